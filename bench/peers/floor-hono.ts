import { serve } from '@hono/node-server'
import { floorHeaders, floorResponse } from '../programs/floor/response.ts'
import { reportReady } from '../setting.ts'

// By default, serve() replaces the global Response with a faster one, so look it up for each response.
const fetch = async (request: Request): Promise<Response> =>
  new Response(floorResponse(await request.text()), { headers: floorHeaders })
serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => reportReady(port))
