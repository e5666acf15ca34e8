import { serve } from '@grantry/adapters/deno'
import { reportReady } from '../../setting.ts'
import { floorFetch, textByPieces } from './response.ts'

const { port } = await serve({ fetch: floorFetch(Response, textByPieces) })
reportReady(port)
