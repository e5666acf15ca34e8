import type { Handler } from '@grantry/core'
import { guarded, type RefuseCaller } from './guarded.ts'
import { consoleHeaders } from './headers.ts'
import type { LiveEvents } from './live-events.ts'
import { pageFiles } from './page-files.ts'
import type { ConsoleSetup } from './setup.ts'

const textResponse = (text: string, mediaType: string): Response =>
  new Response(text, { headers: { ...consoleHeaders, 'content-type': mediaType } })

/**
 * Returns the handlers below `/console`: the page, its files, its setup and the live events. Each asks first
 * whether the caller may open it.
 *
 * @throws TypeError if this build does not include the page.
 */
export async function consoleRoutes(parts: {
  readonly refuse: RefuseCaller
  readonly setup: ConsoleSetup
  readonly live: LiveEvents
}): Promise<ReadonlyMap<string, Handler>> {
  const { refuse, setup, live } = parts
  const known = JSON.stringify(setup)
  const routes = new Map<string, Handler>([
    ['/console/setup.json', guarded(refuse, () => textResponse(known, 'application/json'))],
    ['/console/events', guarded(refuse, (request) => live.listen(request))],
  ])
  for (const [name, { text, mediaType }] of await pageFiles('console')) {
    const file = guarded(refuse, () => textResponse(text, mediaType))
    const paths = name === 'index.html' ? ['/console', '/console/'] : [`/console/${name}`]
    for (const path of paths) routes.set(path, file)
  }
  return routes
}
