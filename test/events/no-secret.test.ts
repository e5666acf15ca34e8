/**
 * Attack: an attacker reads the log. Events go to files, to consoles and to log services, and must not contain anything
 * that grants access. A long scenario uses every grant and endpoint, with valid and invalid requests; then every event
 * is searched for every secret, password, code, verifier and token that was sent or returned.
 */
import { inspect } from 'node:util'
import type { ClientFact, ProviderEvent, UserFact } from '@grantry/core'
import { expect, test } from 'vitest'
import { api1, proof, web } from '../support/fixture.ts'
import { type Secrets, scenario } from './secret-scenario.ts'

/** The events of pages, which test/sign-in/events.test.ts checks. */
type OnPages = UserFact['type'] | 'user_password_accepted'
/** The events of registrations, which test/attacks/registration.test.ts checks. */
type OfRegistrations = ClientFact['type']

/** Every type: one that is added later must be added here and occur in the scenario. */
const everyType: Readonly<Record<Exclude<ProviderEvent['type'], OnPages | OfRegistrations>, true>> = {
  client_authentication_succeeded: true,
  client_authentication_failed: true,
  user_authentication_succeeded: true,
  user_authentication_failed: true,
  abuse_limited: true,
  token_issued: true,
  refresh_outdated: true,
  code_issued: true,
  code_redeemed: true,
  code_replayed: true,
  code_ended: true,
  refresh_rotated: true,
  refresh_retried: true,
  refresh_reused: true,
  redemption_replayed: true,
  family_revoked: true,
  subject_revoked: true,
  client_revoked: true,
  access_withdrawn: true,
  token_revoked: true,
  introspection_active: true,
  introspection_inactive: true,
  introspection_denied: true,
  scope_authentication_failed: true,
  validation_succeeded: true,
  validation_failed: true,
  preflight_refused: true,
  endpoint_succeeded: true,
  endpoint_failed: true,
  unhandled_failure: true,
  secret_skipped: true,
  client_skipped: true,
  record_rejected: true,
  startup_warning: true,
  keys_rotated: true,
  key_retired: true,
}

/** A grant of the host whose assertion is a secret: used once, refused, and failing. */
/** As a logger would write it, with everything that JSON leaves out of an error. */
const written = (events: readonly ProviderEvent[]): string =>
  JSON.stringify(events) +
  inspect(events, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Number.POSITIVE_INFINITY })

const leaks = (text: string, secrets: Secrets): readonly string[] =>
  [...secrets].filter((secret) => text.includes(secret))

test('10.13 no event and no error response contains a credential that was used, and every type of event occurs', async () => {
  const { f, secrets, refusals } = await scenario()
  const types = new Set(f.events.map(({ type }) => type))
  expect(Object.keys(everyType).filter((type) => !types.has(type as ProviderEvent['type']))).toEqual([])
  expect(f.events.length).toBeGreaterThan(300)
  expect(secrets.size).toBeGreaterThan(60)
  for (const known of [web[1], api1[1], 'alice-password', proof.verifier]) expect(secrets).toContain(known)
  expect(leaks(written(f.events), secrets)).toEqual([])
  expect(leaks(refusals, secrets)).toEqual([])
})

test('10.13 the search itself finds a credential in an event, in an error and in its cause', () => {
  const secrets = new Set(['secret-in-a-field', 'secret-in-a-message', 'secret-in-a-cause', 'secret-nowhere'])
  const cause = {
    name: 'Error',
    message: 'secret-in-a-message',
    cause: { name: 'Error', message: 'secret-in-a-cause' },
  }
  const event = {
    type: 'unhandled_failure',
    reason: 'secret-in-a-field',
    cause,
    id: 'a.1',
    requestId: 'a',
    time: 0,
  } as const
  expect(leaks(written([event]), secrets)).toEqual(['secret-in-a-field', 'secret-in-a-message', 'secret-in-a-cause'])
})
