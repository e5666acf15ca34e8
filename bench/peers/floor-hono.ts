import { serve } from '@hono/node-server'
import { floorAnswer, floorHeaders } from '../programs/floor/answer.ts'
import { sayReady } from '../setting.ts'

// Unless told otherwise it puts its own, faster Response in place of the global one; so it is looked up at each answer.
const fetch = async (request: Request): Promise<Response> =>
  new Response(floorAnswer(await request.text()), { headers: floorHeaders })
serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => sayReady({ port, tokens: [] }))
