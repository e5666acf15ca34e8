import type { ConnectionInfo, Handler } from '@grantry/core'
import { guarded, type RefuseCaller, withHeaders } from './guarded.ts'
import { consoleHeaders } from './headers.ts'
import type { LiveEvents } from './live-events.ts'
import { pageFiles } from './page-files.ts'
import type { ConsoleSetup } from './setup.ts'

/** The console as the administration: what its page requests, and who gets what is for administrators only. */
export interface AdministrationRoutes {
  readonly request: {
    readonly clientId: string
    readonly redirectUri: string
    readonly scope: string
    readonly mustPush: boolean
  }
  /** Returns the refusal of a caller who has not proved to be an administrator, otherwise `undefined`. */
  readonly refuse: (request: Request, connection: ConnectionInfo | undefined) => Promise<Response | undefined>
}

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
  /** Absent: the console has no sign-in, and is for those whom `refuse` lets in. */
  readonly administration?: AdministrationRoutes | undefined
}): Promise<ReadonlyMap<string, Handler>> {
  const { refuse, setup, live, administration } = parts
  const known = JSON.stringify(setup)
  const { issuer, paths } = setup
  const beforeSignIn = administration && JSON.stringify({ issuer, paths, administration: administration.request })

  /** Serves what only administrators get, if the console has a sign-in. */
  const forAdministrators = (make: (request: Request) => Response): Handler =>
    guarded(refuse, async (request, connection) => {
      const refusal = await administration?.refuse(request, connection)
      return refusal === undefined ? make(request) : withHeaders(refusal)
    })
  const ownSetup = forAdministrators(() => textResponse(known, 'application/json'))
  const routes = new Map<string, Handler>([
    [
      '/console/setup.json',
      beforeSignIn === undefined
        ? ownSetup
        : guarded(refuse, (request, connection) =>
            request.headers.has('authorization')
              ? ownSetup(request, connection)
              : textResponse(beforeSignIn, 'application/json'),
          ),
    ],
    ['/console/events', forAdministrators((request) => live.listen(request, administration !== undefined))],
  ])
  for (const [name, { text, mediaType }] of await pageFiles('console')) {
    const file = guarded(refuse, () => textResponse(text, mediaType))
    const paths = name === 'index.html' ? ['/console', '/console/'] : [`/console/${name}`]
    for (const path of paths) routes.set(path, file)
  }
  return routes
}
