import type { Handler } from '@grantry/core'
import { pageFiles } from '../page-files.ts'
import { accessRefusal } from './access.ts'
import { consoleHeaders } from './headers.ts'
import type { LiveEvents } from './live-events.ts'
import type { ConsoleOptions } from './options.ts'
import type { ConsoleSetup } from './setup.ts'

const textResponse = (text: string, mediaType: string): Response =>
  new Response(text, { headers: { ...consoleHeaders, 'content-type': mediaType } })

/**
 * Returns the handlers below `/console`: the page, its files, its setup and the live events. Each checks the caller
 * first.
 *
 * @throws TypeError if this build does not include the page.
 */
export async function consoleRoutes(parts: {
  readonly options: ConsoleOptions
  readonly setup: ConsoleSetup
  readonly live: LiveEvents
}): Promise<ReadonlyMap<string, Handler>> {
  const { options, setup, live } = parts
  const guarded =
    (make: (request: Request) => Response): Handler =>
    async (request, connection) =>
      accessRefusal(request, connection, { ...options, issuer: setup.issuer }) ?? make(request)

  const known = JSON.stringify(setup)
  const routes = new Map<string, Handler>([
    ['/console/setup.json', guarded(() => textResponse(known, 'application/json'))],
    ['/console/events', guarded((request) => live.listen(request))],
  ])
  for (const [name, { text, mediaType }] of await pageFiles('console')) {
    const file = guarded(() => textResponse(text, mediaType))
    const paths = name === 'index.html' ? ['/console', '/console/'] : [`/console/${name}`]
    for (const path of paths) routes.set(path, file)
  }
  return routes
}
