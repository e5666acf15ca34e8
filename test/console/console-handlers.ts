import type { ConnectionInfo, Handler } from '@grantry/core'
import { createLiveEvents, type LiveEvents } from '../../packages/console/src/live-events.ts'
import { consoleRoutes } from '../../packages/console/src/routes.ts'
import type { ConsoleSetup } from '../../packages/console/src/setup.ts'
import { accessRefusal } from '../../packages/server/src/provider/console-access.ts'

export const issuer = 'https://id.example.com'

export const setup: ConsoleSetup = { issuer, paths: {}, clients: [], grants: [], apis: [] }

/** The handlers of the console. */
export interface TestConsole {
  readonly live: LiveEvents
  readonly paths: readonly string[]
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
    connection?: ConnectionInfo,
    method?: string,
  ): Promise<Response>
}

export const fromHere: ConnectionInfo = { clientAddress: '127.0.0.1' }

export async function testConsole({ remote = false } = {}): Promise<TestConsole> {
  const live = createLiveEvents()
  const routes = await consoleRoutes({
    refuse: (request, connection) => accessRefusal(request, connection, { remote, issuer }),
    setup,
    live,
  })
  const get: TestConsole['get'] = (path, headers = {}, connection = fromHere, method = 'GET') => {
    const handler = routes.get(path) as Handler
    const all = { host: '127.0.0.1:8484', ...headers }
    // As in the server, the URL is that of the issuer, whatever the `Host` header is.
    return handler(new Request(`${issuer}${path}`, { method, headers: all }), connection)
  }
  return { live, paths: [...routes.keys()], get }
}
