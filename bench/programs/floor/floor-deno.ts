import { sayReady } from '../../setting.ts'
import { denoServe } from '../runtimes.ts'
import { floorFetch } from './answer.ts'

sayReady({ port: denoServe(floorFetch()), tokens: [] })
