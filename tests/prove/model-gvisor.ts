/** script/prove model-gvisor [runs, 30] [seed]: the same model beside a whole server with real Docks. */
import { runModel } from '../model/support/run-model.ts'

runModel('model-gvisor', 30)
