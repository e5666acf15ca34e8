import { type Client, parseUrl } from '@grantry/core'

/**
 * The origin of a self-described application, and the place that gets the access. Any other application can have the
 * same name.
 */
export interface DescribedClient {
  /** The host of its metadata document, if it has one. */
  readonly host?: string | undefined
  /** The host of the home page that it names. */
  readonly homePage?: string | undefined
  /** The host that the user returns to; absent if it is a program on the device. */
  readonly returnsTo?: string | undefined
  /** Whether the operator knows the host. */
  readonly isKnown: boolean
}

/**
 * Returns the facts that users must see before they trust a client; `undefined` if the operator has described the
 * client.
 *
 * @param redirectUri absent if the access is for a device
 */
export function describedClient(
  { clientId, clientUri, selfDescribed }: Pick<Client, 'clientId' | 'clientUri' | 'selfDescribed'>,
  redirectUri = '',
): DescribedClient | undefined {
  if (selfDescribed === undefined) return undefined
  return {
    // The id of a client that has registered itself is not a URL.
    host: parseUrl(clientId)?.host,
    homePage: clientUri === undefined ? undefined : parseUrl(clientUri)?.host,
    // Other redirect URIs of such clients belong to programs on the device.
    returnsTo: /^https:/iu.test(redirectUri) ? parseUrl(redirectUri)?.host : undefined,
    isKnown: selfDescribed === 'allow',
  }
}
