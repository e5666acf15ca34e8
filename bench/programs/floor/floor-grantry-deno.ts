import { serve } from '@grantry/adapters/deno'
import { sayReady } from '../../setting.ts'
import { floorFetch, textByPieces } from './answer.ts'

const { port } = await serve({ fetch: floorFetch(Response, textByPieces) })
sayReady({ port, tokens: [] })
