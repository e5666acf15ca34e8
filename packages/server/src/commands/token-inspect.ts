import { text } from 'node:stream/consumers'
import { decodeJwt, type TokenInspection } from '@grantry/core'
import { errorMessage } from '../error-message.ts'
import { requireConfiguration, withProvider } from '../opening/open-configuration.ts'
import { describeClaim, reasonDescriptions } from './claim-descriptions.ts'

const kinds: Readonly<Record<TokenInspection['kind'], string>> = {
  access_token: 'access token',
  identity_token: 'identity token',
  refresh_token: 'refresh token',
  authorization_code: 'authorization code',
  unknown: 'unknown',
}

const claimLines = (claims: Readonly<Record<string, unknown>>): readonly string[] => {
  const now = Math.floor(Date.now() / 1000)
  return Object.entries(claims).map(([name, value]) => describeClaim(name, value, now))
}

function describeInspection({ kind, format, valid, reason = '', claims }: TokenInspection): string {
  const what = format === undefined ? kinds[kind] : `${kinds[kind]}, ${format === 'jwt' ? 'a JWT' : 'opaque'}`
  const verdict = valid ? 'valid now' : `not valid: ${reasonDescriptions[reason] ?? reason}`
  return [`${what}; ${verdict}`, ...claimLines(claims)].join('\n')
}

/** Describes a token without the store of the server. */
function describeOffline(token: string, why: string): string {
  const decoded = decodeJwt(token)
  if (decoded === undefined) return `Not a JWT. Only the store knows what it is, and it was not read: ${why}`
  return [`A JWT. Its signature and revocation were not checked: ${why}`, ...claimLines(decoded.claims)].join('\n')
}

async function inspect(token: string, config: string | undefined): Promise<string> {
  // A configuration passed with --config must be valid. Without --config, there may be none.
  const given = config === undefined ? undefined : await requireConfiguration(config)
  try {
    const loaded = given ?? (await requireConfiguration(config))
    const note =
      loaded.configuration.storage.driver === 'memory'
        ? '\nThe storage is in the memory of the server, which this command cannot read: reference tokens, codes, refresh tokens and revocations are unknown.'
        : ''
    return `${await withProvider(loaded, async (provider) => describeInspection(await provider.inspect(token)))}${note}`
  } catch (cause) {
    // The claims of a JWT are useful even if the store is down.
    return describeOffline(token, errorMessage(cause))
  }
}

/** Runs `grantry token inspect`. It does not spend the token, and the output does not contain it. */
export async function tokenInspectCommand(given: string, { config }: { readonly config?: string }): Promise<string> {
  const token = (given === '-' ? await text(process.stdin) : given).trim()
  if (token === '') throw new TypeError('the token is empty; pass a token, or - to read it from standard input')
  return `${await inspect(token, config)}\n`
}
