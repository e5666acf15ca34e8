import type { Json, ProviderEvent } from '@grantry/core'
import type { Bench } from './bench.ts'
import type { Outgoing, Received, Target } from './target.ts'

/** Parameters and headers of standards that are neither secret nor personal, or that events contain on purpose. */
export const publicNames: ReadonlySet<string> = new Set([
  'grant_type',
  'scope',
  'client_id',
  'redirect_uri',
  'resource',
  'audience',
  'username',
  'acr_values',
  'subject_token_type',
  'actor_token_type',
  'requested_token_type',
  'token_type_hint',
  'client_assertion_type',
  'code_challenge_method',
  'accept',
  'accept-language',
  'content-type',
  'origin',
  'referer',
  'traceparent',
  'user-agent',
])

/** Whether a value can be searched: a word, a few characters, and zeros occur by chance. */
export const isTelling = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= 6 && !/^[a-z]+$/u.test(value) && new Set(value).size > 2

/** A shorter value can occur by chance in a number or in a hash. */
const longEnough = 12
// An underscore is none, because it joins words in a reason.
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[a-z\d]/iu.test(character)

/** Whether a text contains a value, as it is or as JSON writes it. A short value counts only as a whole word. */
export function occursIn(text: string, value: string): boolean {
  return [value, JSON.stringify(value).slice(1, -1)].some((spelling) => {
    if (spelling.length >= longEnough) return text.includes(spelling)
    const parts = text.split(spelling)
    return parts.some(
      (part, index) => index > 0 && !isWordCharacter(parts[index - 1]?.at(-1)) && !isWordCharacter(part.at(0)),
    )
  })
}

const tokenMembers = ['access_token', 'refresh_token', 'id_token'] as const
/** What an endpoint returns as a credential. The id of a token is none. */
const credentialForm = /^[\w\-.~+=]{20,}$/u

/** Returns the texts in a value of JSON. */
const textsIn = (value: Json | undefined): readonly string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [value].filter(isTelling)

/** Returns the values that must not occur in events and in the storage, with their names. */
export function secretsIn(
  { parameters, headers = {} }: Outgoing,
  { status, body }: Received,
  isPublic: readonly string[],
): readonly (readonly [value: string, name: string])[] {
  // A header is searched without its scheme.
  const inHeaders = Object.entries(headers).map(([name, value]) => [name, value.replace(/^\w+ /u, '')] as const)
  const sent = [...Object.entries(parameters), ...inHeaders].filter(
    ([name]) => !publicNames.has(name.toLowerCase()) && !isPublic.includes(name),
  )
  const members: Readonly<Record<string, Json>> = status < 400 && typeof body === 'object' && body !== null ? body : {}
  const tokens = Object.entries(members).filter(
    ([name, value]) =>
      (tokenMembers as readonly string[]).includes(name) ||
      (name !== 'jti' && typeof value === 'string' && credentialForm.test(value)),
  )
  return [...sent, ...tokens].flatMap(([name, value]) =>
    textsIn(value).flatMap((text) => (text.length < 10_000 ? [[text, name] as const] : [])),
  )
}

/** Checks that no secret occurs in the events and in the storage. */
export function checkLeaks(state: {
  readonly bench: Bench
  readonly target: Target
  /** Values and their names. */
  readonly secrets: ReadonlyMap<string, string>
  readonly events: readonly ProviderEvent[]
  readonly items: ReadonlyMap<string, string>
}): void {
  const { bench, target, secrets, events, items } = state
  const written = events.map((event) => [event.type, JSON.stringify(event)] as const)
  const stored = [...items].map(([key, value]) => [key.split(':')[0] ?? '', `${key} ${value}`] as const)
  for (const [secret, name] of secrets) {
    const isIn = ([, text]: readonly [string, string]): boolean => occursIn(text, secret)
    const event = written.find(isIn)
    if (event !== undefined) {
      bench.findings.add('secret-in-event', target.part, `the event ${event[0]} contains the value of ${name}`)
    }
    const record = stored.find(isIn)
    if (record !== undefined) {
      bench.findings.add(
        'secret-in-storage',
        target.part,
        `a record of the kind ${record[0]} contains the value of ${name}`,
      )
    }
  }
}
