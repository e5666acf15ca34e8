// What an operator keeps after restoring a backup (decision 176) is decided where a record is written. A kind of the core is
// in `recordKinds`; a record of a plugin is kept only if its write marks it. A new write is decided here, too.

import { expect, test } from 'vitest'
import { recordKinds } from '../../packages/core/src/records/keys.ts'
import { type Source, sources } from './source-files.ts'

/** The text from an opening parenthesis to its closing one. */
function callAt(text: string, start: number): string {
  let depth = 0
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '(') depth += 1
    if (text[end] === ')') depth -= 1
    if (depth === 0) return text.slice(start, end + 1)
  }
  return text.slice(start)
}

const writes = /\brecords\.(?:put|insert|update)\(|(?<!function )\brecordSet\(/gu

/** The writes of plugins, by their file and the name of their key. */
const writesIn = ({ path, text }: Source) =>
  [...text.matchAll(writes)].map((match) => {
    const call = callAt(text, match.index + match[0].length - 1)
    return { file: path.replace('plugins/', ''), isKept: /\bkeptRecord\b|\boptions\b/u.test(call) }
  })

const writesOfPlugins = sources.filter(({ path }) => path.startsWith('plugins/')).flatMap(writesIn)

function countsOf(isKept: boolean): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const write of writesOfPlugins) if (write.isKept === isKept) counts[write.file] = (counts[write.file] ?? 0) + 1
  return counts
}

/** Links, factors, consents, registrations, pending deletions, limits, and marks that something is used up or has ended. */
const kept = {
  'account/client-demand.ts': 1,
  'account/passkeys.ts': 1,
  'account/removal.ts': 4,
  'account/removed-user.ts': 5,
  'account/second-factors.ts': 1,
  'self-service/invitations.ts': 1,
  'self-service/new-password.ts': 1,
  'authorization-endpoint/consents.ts': 2,
  'authorization-endpoint/session-records.ts': 1,
  'authorization-endpoint/standing.ts': 2,
  'authorization-endpoint/suspended.ts': 1,
  'client-assertion/assertion-claims.ts': 1,
  'one-time-password/recovery-codes.ts': 1,
  'one-time-password/stored-factors.ts': 2,
  'one-time-password/totp.ts': 1,
  'passkeys/stored-passkeys.ts': 5,
  'pushed-authorization/pushed-records.ts': 1,
  'registration/origins.ts': 3,
  'registration/registration-records.ts': 2,
  'shared/code-limits.ts': 3,
  'shared/mailed-code.ts': 1,
  'shared/record-set.ts': 1,
  'shared/removal-mark.ts': 2,
  'sign-in/form-token.ts': 1,
  'upstream/links.ts': 4,
  'upstream/profile.ts': 1,
  'upstream/state.ts': 1,
  'upstream/upstream-logout.ts': 1,
  'workload-identity/tokens.ts': 1,
}

/** Sessions, tickets, codes, requests, kept tokens, copies, queues, and claims of a change in progress. */
const removed = {
  'account/address.ts': 1,
  'account/kept-form.ts': 1,
  'account/removal.ts': 1,
  'self-service/invitations.ts': 3,
  'self-service/ticket.ts': 1,
  'authorization-endpoint/session-records.ts': 2,
  'authorization-endpoint/sessions.ts': 1,
  'authorization-endpoint/suspended.ts': 3,
  'back-channel-logout/queue.ts': 5,
  'back-channel-logout/recipients.ts': 4,
  'client-metadata/fetch-together.ts': 1,
  'device-authorization/device-records.ts': 6,
  'pushed-authorization/pushed-records.ts': 1,
  'registration/initial-tokens.ts': 2,
  'registration/registration-records.ts': 1,
  'shared/code-limits.ts': 1,
  'shared/known-sites.ts': 1,
  'shared/mail-limits.ts': 2,
  'shared/mailed-code-limits.ts': 1,
  'shared/user-authorizations.ts': 1,
  'upstream/kept-tokens.ts': 2,
  'upstream/state.ts': 1,
  'upstream/token-keeper.ts': 2,
  'upstream/upstream-logout.ts': 2,
}

const decide = 'decide for each new write of a plugin whether an operator keeps its record, and count it in this file'

test('the writes of plugins whose records are kept are counted here', () => {
  expect(countsOf(true), decide).toEqual(kept)
})

test('the writes of plugins whose records are removed are counted here', () => {
  expect(countsOf(false), decide).toEqual(removed)
})

test('each key of the core begins with a kind that is classified', () => {
  const core = sources.filter(({ path }) => path.startsWith('packages/core/src/'))
  const kinds = core.flatMap(({ text }) =>
    [...text.matchAll(/\bkeyOf\('([a-z]+)'|[`']([a-z]+):\$\{/gu)].map(([, kind, prefix]) => kind ?? prefix ?? ''),
  )
  expect(kinds.length).toBeGreaterThan(20)
  // A part of a storage has the keys of its own records behind this.
  const others = kinds.filter((kind) => !Object.hasOwn(recordKinds, kind) && kind !== 'space')
  expect(others).toEqual([])
})
