import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OAuthClientProvider } from '@modelcontextprotocol/client'
import { type ClientMemory, rememberIn } from './client-memory.ts'

/** How the user of a client signs in. */
export interface SignIn {
  readonly provider: OAuthClientProvider
  /** Resolves with the parameters of the next redirect to the client. */
  nextCode(): Promise<URLSearchParams>
  /** Ends the access of this client at the issuer. */
  signOut(): Promise<void>
}

/**
 * A client on the machine of the user: it listens on a free port for the redirect.
 *
 * @param metadataUrl the URL of its metadata document
 */
export async function createSignIn(metadataUrl: string | undefined): Promise<SignIn> {
  const callback = createServer(({ url = '' }, res) => {
    // Browsers request an icon, too.
    if (url.startsWith('/callback?')) callback.emit('code', new URL(url, redirectUrl).searchParams)
    res.end('You can close this page.')
  })
  await once(callback.listen(0, '127.0.0.1'), 'listening')
  const redirectUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`
  const memory: ClientMemory = {}
  return {
    provider: rememberIn(memory, redirectUrl, metadataUrl),
    async nextCode() {
      const [code] = await once(callback, 'code')
      return code
    },
    async signOut() {
      callback.close()
      const { discovery, client, tokens } = memory
      const metadata = discovery?.authorizationServerMetadata
      if (metadata === undefined || !('revocation_endpoint' in metadata)) return
      const body = new URLSearchParams({ client_id: client?.client_id ?? '', token: tokens?.refresh_token ?? '' })
      await fetch(String(metadata.revocation_endpoint), { method: 'POST', body })
    },
  }
}
