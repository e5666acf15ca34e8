import { text } from 'node:stream/consumers'
import { decodeJwt, type TokenInspection } from '@grantry/core'
import { messageOf } from '../message-of.ts'
import { describeClaim, reasonWords } from '../token/claim-words.ts'
import { configured, withProvider } from './configured.ts'

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

function told({ kind, format, valid, reason = '', claims }: TokenInspection): string {
  const what =
    format === undefined ? kinds[kind] : `${kinds[kind]}, ${format === 'jwt' ? 'a JWT' : 'a reference into the store'}`
  const verdict = valid ? 'valid now' : `not valid: ${reasonWords[reason] ?? reason}`
  return [`${what}; ${verdict}`, ...claimLines(claims)].join('\n')
}

/** What can be said without the server's store. */
function guessed(token: string, why: string): string {
  const decoded = decodeJwt(token)
  if (decoded === undefined) return `Not a JWT, so only the store could tell what it is. It was not asked: ${why}`
  return [
    `A JWT; nobody has checked its signature or whether it was revoked: ${why}`,
    ...claimLines(decoded.claims),
  ].join('\n')
}

async function inspect(token: string, config: string | undefined): Promise<string> {
  // One that was named must be right; without one, there may be none here.
  const named = config === undefined ? undefined : await configured(config)
  try {
    const loaded = named ?? (await configured(config))
    const note =
      loaded.configuration.storage.driver === 'memory'
        ? '\nThe storage is in the memory of the server, which this command cannot see: a reference, a code, a refresh token and a revocation are unknown here.'
        : ''
    return `${await withProvider(loaded, async (provider) => told(await provider.inspect(token)))}${note}`
  } catch (cause) {
    // Somebody with a token in the hand wants to see it, also when the store is down.
    return guessed(token, messageOf(cause))
  }
}

/** `grantry token inspect`: what a token is, what it says, and whether it is accepted now. It spends nothing and does not repeat the token. */
export async function tokenInspectCommand(given: string, { config }: { readonly config?: string }): Promise<string> {
  const token = (given === '-' ? await text(process.stdin) : given).trim()
  if (token === '') throw new TypeError('the token is empty; give one, or - and send it to standard input')
  return `${await inspect(token, config)}\n`
}
