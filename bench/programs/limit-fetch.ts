import { paths } from '../operations.ts'
import type { Limit } from './limit.ts'
import { headers } from './limit-parts.ts'

/** The limit as a fetch handler, for runtimes whose server uses Request and Response. */
export function limitFetch(limit: Limit): (request: Request) => Promise<Response> {
  const init = { headers }
  const introspectionEnd = paths.introspection
  return async (request) => {
    const authorization = request.headers.get('authorization') ?? ''
    try {
      if (request.method === 'GET') return new Response(limit.userinfo(authorization), init)
      const operate = request.url.endsWith(introspectionEnd) ? limit.introspection : limit.token
      return new Response(operate(authorization, await request.text()), init)
    } catch (error) {
      return new Response(String(error), { status: 400, headers })
    }
  }
}
