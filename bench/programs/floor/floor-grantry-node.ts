import { nodeRuntime, serve } from '@grantry/adapters/node'
import { issuer } from '../../operations.ts'
import { reportReady } from '../../setting.ts'
import { floorFetch, textByPieces } from './response.ts'

const { port } = await serve({ issuer, fetch: floorFetch(nodeRuntime.Response, textByPieces) })
reportReady(port)
