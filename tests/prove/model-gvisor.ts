/** script/prove model-gvisor [runs, 30] [seed]: compares the model with a complete server with real Docks. */
import { runModel } from '../model/support/run-model.ts'

runModel('model-gvisor', 30)
