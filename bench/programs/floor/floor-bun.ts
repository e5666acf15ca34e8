import { reportReady } from '../../setting.ts'
import { bunServe } from '../runtimes.ts'
import { floorFetch } from './response.ts'

reportReady(bunServe(floorFetch()))
