import { nodeRuntime, serve } from '@grantry/adapters/node'
import { issuer } from '../../operations.ts'
import { sayReady } from '../../setting.ts'
import { floorFetch, textByPieces } from './answer.ts'

const { port } = await serve({ issuer, fetch: floorFetch(nodeRuntime.Response, textByPieces) })
sayReady({ port, tokens: [] })
