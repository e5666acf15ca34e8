import { sayReady } from '../../setting.ts'
import { bunServe } from '../runtimes.ts'
import { floorFetch } from './answer.ts'

sayReady({ port: bunServe(floorFetch()), tokens: [] })
