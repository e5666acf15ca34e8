import type { EndpointRequest, Refuse } from '@grantry/core'
import type { SameSite } from '../shared/browser-cookie.ts'

/** The reason of the refusal. */
export const noPageShown = 'no_page_shown'

const frames: ReadonlySet<string> = new Set(['embed', 'fencedframe', 'frame', 'iframe', 'object'])

/**
 * All other destinations that browsers name. An unknown one is not refused: the specification of `Sec-Fetch-Dest`
 * requires servers to ignore those.
 */
const elements: ReadonlySet<string> = new Set([
  'audio',
  'audioworklet',
  'empty',
  'font',
  'image',
  'json',
  'manifest',
  'paintworklet',
  'report',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'track',
  'video',
  'webidentity',
  'worker',
  'xslt',
])

/**
 * Refuses a request whose page no user would see, before it is stored: an image of another site, or a frame in which the
 * cookie of the request would be missing. A site could use up the waiting requests of its visitors with them. Browsers
 * without these headers are not refused, nor is the own origin, whose service worker can repeat a navigation by `fetch()`.
 *
 * @param sameSite of the cookie that the request is bound to
 * @throws OAuthError for the user.
 * @see Fetch Metadata Request Headers, sections 2.1 and 2.3
 */
export function assertShown({ header }: Pick<EndpointRequest, 'header'>, sameSite: SameSite, refuse: Refuse): void {
  const site = header('sec-fetch-site')
  if (site !== 'cross-site' && site !== 'same-site') return
  const destination = header('sec-fetch-dest') ?? ''
  const isLost = frames.has(destination) ? site === 'cross-site' && sameSite !== 'none' : elements.has(destination)
  if (isLost) throw refuse('invalid_request', 'The request must be a navigation of the browser', noPageShown)
}
