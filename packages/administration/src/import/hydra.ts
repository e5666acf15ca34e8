import type { Members } from '../differences.ts'
import type { ImportFunction } from './imported.ts'
import type { Reader } from './reader.ts'
import { importRegistered } from './registered-clients.ts'

/** Seconds of each unit, the largest first. */
const units: ReadonlyMap<string, number> = new Map([
  ['h', 3600],
  ['m', 60],
  ['s', 1],
  ['ms', 0.001],
])

/** A duration of Go. Its length is limited: no lifetime has more digits. */
const duration = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|h|m|s)){1,4}$/u

/** Returns the seconds of a duration of Go, such as `1h30m0s`; `undefined` if it is none, or zero. */
function secondsOf(text: string): number | undefined {
  if (!duration.test(text)) return undefined
  const parts = [...text.matchAll(/([\d.]+)(ms|h|m|s)/gu)]
  const seconds = Math.floor(
    parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (units.get(unit) ?? 0), 0),
  )
  return seconds > 0 && seconds <= longest ? seconds : undefined
}

/** Ten years: the longest lifetime here. */
const longest = 315_360_000

/** Returns the lifetime of a grant, if the client has one of its own. */
function lifespan(member: string, { text, note }: Reader): number | undefined {
  const lifetime = text(member)
  const seconds = lifetime === undefined ? undefined : secondsOf(lifetime)
  if (lifetime !== undefined && seconds === undefined)
    note(member, 'is no duration from a second to ten years', 'token')
  return seconds
}

function membersOf(reader: Reader): Members {
  const [code, machine] = ['authorization_code_grant', 'client_credentials_grant'].map((grant) =>
    lifespan(`${grant}_access_token_lifespan`, reader),
  )
  if (code !== undefined && machine !== undefined && code !== machine)
    reader.changed(
      'client_credentials_grant_access_token_lifespan',
      `all grants have the lifetime ${code} now`,
      'token',
    )
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
