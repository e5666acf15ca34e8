import { reportReady } from '../../setting.ts'
import { denoServe } from '../runtimes.ts'
import { floorFetch } from './response.ts'

reportReady(denoServe(floorFetch()))
