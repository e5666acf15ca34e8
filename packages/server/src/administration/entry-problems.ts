import { configurationProblems } from '@grantry/core'

/** The maximum number of checks of one entry: each check reports the first kind of mistake only. */
const maxRounds = 8

type Members = Readonly<Record<string, unknown>>

/** The hash of no secret. */
const someSecret = { sha256: `${'A'.repeat(43)}=` }

/** Members with which a client authenticates, also misspelled. */
const ofAuthentication = /secret|jwk|key|auth|public|workload|tls/iu
const ofRedirects = /redirect/iu

/**
 * Returns an entry without its wrong members, for a check that finds what they hide. Mistakes that only exist because
 * these members are absent, such as a missing redirect URI, must not be reported.
 */
function withoutMembers(entry: Members, wrong: readonly string[]): Members {
  const rest: Record<string, unknown> = { ...entry }
  for (const name of wrong) delete rest[name]
  if (wrong.some((name) => ofRedirects.test(name))) rest.redirectUris ??= ['https://client.example.com/callback']
  if (!wrong.some((name) => ofAuthentication.test(name))) return rest
  delete rest.tokenEndpointAuthMethod
  return rest.public === true ? rest : { ...rest, secrets: rest.secrets ?? [someSecret] }
}

/** After the path, and the id of the entry: `.scopes[0] must be`, `: redirectUris[0] must be`, `: secrets[0] has neither`; not `: must be`. */
const memberForm = /^(?: \("[^"]*"\))?(?:: (?!(?:must|is|has) )|\.)?([\w.[\]]*)/u

/** Returns the path of the member that a message names: `''` for the value itself. */
export function memberIn(message: string, path: string): string | undefined {
  const at = message.indexOf(path)
  return at < 0 ? undefined : memberForm.exec(message.slice(at + path.length))?.[1]
}

/**
 * Returns all mistakes of a client or a scope, although the check stops at the first kind of mistakes.
 *
 * @param path the name of the entry in the messages of the check, such as `clients[0]`
 */
export function entryProblems<T extends object>(
  entry: T,
  check: (entry: T) => void,
  path: string,
): { readonly problems: readonly string[]; readonly cause: unknown } {
  const problems = new Set<string>()
  const left = new Set<string>()
  let cause: unknown
  let rest = { ...entry } as unknown as Members
  for (let round = 0; round < maxRounds; round += 1) {
    try {
      check(rest as T)
      break
    } catch (thrown) {
      cause ??= thrown
      const wrong = configurationProblems(thrown).flatMap((problem) => {
        const member = memberIn(problem, path)?.split(/[.[]/u)[0] ?? ''
        if (!left.has(member)) problems.add(problem)
        return Object.hasOwn(rest, member) ? [member] : []
      })
      // Without its id, errors would name another entry.
      if (wrong.length === 0 || wrong.includes('clientId') || wrong.includes('name')) break
      for (const member of wrong) left.add(member)
      rest = withoutMembers(rest, wrong)
    }
  }
  return { problems: [...problems], cause }
}
