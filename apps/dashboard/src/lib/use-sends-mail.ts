import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../api/queries.ts'

/** False if this server has no mail server: what it would mail lies in a folder that only its operator reads. */
export function useSendsMail(): boolean {
  return useQuery(configQuery).data?.mailDelivery !== 'log'
}
