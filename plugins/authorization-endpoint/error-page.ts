import type { EndpointKit, EndpointRequest, OAuthError, Reply } from '@grantry/core'
import type { EndpointPages } from './authorization-pages.ts'
import { errorViewOf } from './response.ts'

/** Shows refusals that no client may receive to the user. */
export const errorPageWith =
  (pages: EndpointPages) =>
  async (error: OAuthError, http: EndpointRequest, kit: EndpointKit): Promise<Reply> => {
    const locale = pages.localeOf(undefined, http.header('accept-language'))
    return pages.error(await errorViewOf(error, http, kit), locale)
  }
