/** script/prove model [runs, 1000] [seed]: tests/model at its full length. */
import { runModel } from '../model/support/run-model.ts'

runModel('model', 1000)
