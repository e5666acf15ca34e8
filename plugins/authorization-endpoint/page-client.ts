import { type ClientOptions, defineClientSource, type EndpointKit, type PluginPart } from '@grantry/core'

/** A page of the provider that signs its users in as a client of the authorization endpoint. */
export interface PageClient {
  readonly part: PluginPart
  /**
   * Returns a redirect to the sign-in. It ends with a code for the page, which needs only the session and ignores the
   * code. The secret of the client is forgotten, so no caller can redeem it, also not one that has chosen the challenge.
   *
   * @param more further parameters of the request, such as `state` and `max_age`
   */
  signInAt(kit: EndpointKit, more?: Readonly<Record<string, string>>): { readonly location: string }
}

const toBase64 = (base64url: string): string => `${base64url.replaceAll('-', '+').replaceAll('_', '/')}=`

/**
 * Defines the client of a page. Each process forgets its random secret.
 *
 * @param clientId a URN: no client of the host has this id
 * @param path the path of the page, to which the sign-in returns
 */
export function pageClient(clientId: `urn:${string}`, path: `/${string}`): PageClient {
  const clients = new Map<string, ClientOptions>()
  return {
    part: defineClientSource({
      matches: (id) => id === clientId,
      find(id, kit) {
        if (id !== clientId) return undefined
        // The same object each time: clients are parsed once for each object.
        const known = clients.get(kit.issuer) ?? {
          clientId,
          clientName: new URL(kit.issuer).host,
          secrets: [{ sha256: toBase64(kit.sha256(kit.randomId())) }],
          requireConsent: false,
          grantTypes: ['authorization_code'],
          scopes: ['openid'],
          redirectUris: [`${kit.issuer}${path}`],
        }
        clients.set(kit.issuer, known)
        return known
      },
    }),
    signInAt(kit, more = {}) {
      const location = new URL(kit.endpointUrl('authorization') ?? '')
      location.search = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: `${kit.issuer}${path}`,
        scope: 'openid',
        code_challenge_method: 'S256',
        code_challenge: kit.randomId(),
        ...more,
      }).toString()
      return { location: location.href }
    },
  }
}
