// A public client in a page: signs in, reads userinfo and refreshes, with one key for DPoP.
import * as client from 'openid-client'

export async function signIn(issuer: string): Promise<readonly (string | undefined)[]> {
  const config = await client.discovery(new URL(issuer), 'spa', undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  })
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair())
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: `${location.origin}/callback`,
    scope: 'openid offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  })
  const callback = new URL((await fetch(url)).url)
  callback.searchParams.delete('state')
  const tokens = await client.authorizationCodeGrant(config, callback, { pkceCodeVerifier }, undefined, { DPoP })
  const { sub } = await client.fetchUserInfo(config, tokens.access_token, '1', { DPoP })
  const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP })
  return [tokens.token_type, sub, next.token_type]
}
