/** The HTTP framework alone, with a constant response for GET /v1/me: the upper bound for the control plane. */
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'

const answer = {
  ok: true,
  data: {
    id: '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11',
    email: 'admin@dock.localhost',
    emailVerified: true,
    providers: ['credential'],
    instanceAdmin: true,
  },
}

const app = new Hono().get('/v1/me', (context) => context.json(answer))
createAdaptorServer({ fetch: app.fetch }).listen(Number(process.env.PORT), '127.0.0.1')
