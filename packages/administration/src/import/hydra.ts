import type { Members } from '../differences.ts'
import type { ImportFunction } from './imported.ts'
import type { Reader } from './reader.ts'
import { importRegistered } from './registered-clients.ts'

const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 }

/** Returns the seconds of a duration of Go, such as `1h30m0s`; `undefined` if it is none, or zero. */
function secondsOf(duration: string): number | undefined {
  const parts = [...duration.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gu)]
  if (parts.map(([part]) => part).join('') !== duration) return undefined
  const seconds = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0), 0)
  return Math.floor(seconds) > 0 ? Math.floor(seconds) : undefined
}

/** Returns the lifetime of a grant, if the client has one of its own. */
function lifespan(member: string, { text, note }: Reader): number | undefined {
  const given = text(member)
  const seconds = given === undefined ? undefined : secondsOf(given)
  if (given !== undefined && seconds === undefined) note(member, `${given} is no duration of at least a second`)
  return seconds
}

function membersOf(reader: Reader): Members {
  const [code, machine] = ['authorization_code_grant', 'client_credentials_grant'].map((grant) =>
    lifespan(`${grant}_access_token_lifespan`, reader),
  )
  if (code !== undefined && machine !== undefined && code !== machine)
    reader.note('client_credentials_grant_access_token_lifespan', `all grants have the lifetime ${code} now`)
  const strategy = reader.text('access_token_strategy')
  reader.ignore(['created_at', 'updated_at', 'skip_logout_consent', 'registration_client_uri'])
  reader.ignore(['userinfo_signed_response_alg', 'request_object_signing_alg'], 'none')
  return {
    accessTokenLifetime: code ?? machine,
    identityTokenLifetime: lifespan('authorization_code_grant_id_token_lifespan', reader),
    // Opaque tokens are the default of Hydra, and those of a client without a strategy.
    accessTokenFormat: strategy === 'jwt' ? 'jwt' : 'reference',
    requireConsent: reader.flag('skip_consent') === true ? false : undefined,
  }
}

/** Imports clients of Ory Hydra, as `hydra list clients --format json` and `hydra get client` print them. */
export const importHydra: ImportFunction = async (files) => importRegistered(files, membersOf)
