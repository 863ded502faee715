/** script/prove model [runs, 1000] [seed]: runs tests/model at full length. */
import { runModel } from '../model/support/run-model.ts'

runModel('model', 1000)
