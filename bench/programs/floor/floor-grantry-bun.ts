import { serve } from '@grantry/adapters/bun'
import { sayReady } from '../../setting.ts'
import { floorFetch } from './answer.ts'

const { port } = await serve({ fetch: floorFetch() })
sayReady({ port, tokens: [] })
