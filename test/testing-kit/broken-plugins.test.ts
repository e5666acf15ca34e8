import { defineEndpoint, definePlugin, defineTokenBinding, OAuthError } from '@grantry/core'
import { type CaseContext, type PluginRule, testPlugin } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { brokenBindings, correctBinding } from './broken-plugins/bindings.ts'
import { brokenEndpoints, invitationCase, invitations, office, officeCase, pages } from './broken-plugins/endpoints.ts'
import { brokenGrants, linkGrant } from './broken-plugins/grants.ts'
import { brokenGuesses, guessProof, longPin, shortCode } from './broken-plugins/guesses.ts'
import { brokenHostFunctions, notesWith } from './broken-plugins/host-functions.ts'
import { brokenLeaks } from './broken-plugins/leaks.ts'
import { brokenMethods, correctMethod } from './broken-plugins/methods.ts'
import { brokenSingleUse } from './broken-plugins/single-use.ts'
import { grantType, refuse, ticketCase, ticketGrant } from './broken-plugins/tickets.ts'

// A kit that finds nothing proves nothing: each plugin is broken on purpose, and breaks exactly the listed rules.

const broken = [
  ...brokenGrants,
  ...brokenSingleUse,
  ...brokenLeaks,
  ...brokenGuesses,
  ...brokenEndpoints,
  ...brokenMethods,
  ...brokenBindings,
  ...brokenHostFunctions,
]

/** Who keeps a rule. No plugin can break one of the core, so the kit checks the core with it. */
const keptBy: Readonly<Record<PluginRule, 'plugin' | 'core'>> = {
  cases: 'plugin',
  success: 'plugin',
  'server-error': 'plugin',
  'missing-parameter': 'plugin',
  'empty-parameter': 'core',
  'repeated-parameter': 'core',
  'oversized-parameter': 'plugin',
  'unknown-parameter': 'plugin',
  'wrong-secret': 'core',
  'disabled-client': 'core',
  'client-without-grant': 'core',
  'foreign-client': 'plugin',
  'public-client': 'plugin',
  'unknown-scope': 'core',
  'scope-not-allowed': 'core',
  'scope-escalation': 'plugin',
  authorization: 'plugin',
  refusal: 'plugin',
  'uniform-refusal': 'plugin',
  'concurrent-use': 'plugin',
  replay: 'plugin',
  guesses: 'plugin',
  'error-shape': 'core',
  'error-description': 'plugin',
  'presented-error': 'plugin',
  'internal-message': 'plugin',
  'value-in-error': 'plugin',
  'secret-in-event': 'plugin',
  'secret-in-storage': 'plugin',
  reason: 'plugin',
  metadata: 'plugin',
  'disabled-endpoint': 'plugin',
  'inactive-user': 'plugin',
  'revoked-user': 'plugin',
  'two-issuers': 'plugin',
  'host-functions': 'plugin',
  'storage-failure': 'plugin',
  'retry-after-failure': 'plugin',
  'unknown-client': 'core',
  'client-without-method': 'plugin',
  'changed-credentials': 'plugin',
  'undeclared-field': 'plugin',
  'bound-token': 'plugin',
  'stolen-token': 'plugin',
  'changed-proof': 'plugin',
  'response-format': 'core',
}

async function reportOf(...[plugin, cases]: Parameters<typeof testPlugin>): Promise<string> {
  try {
    await testPlugin(plugin, cases)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const rulesIn = (report: string): readonly string[] => [
  ...new Set([...report.matchAll(/^- \[([\w-]+)\]/gmu)].map(([, rule = '']) => rule)),
]

// Side by side, because most of the time is injected latency.
describe.concurrent('testPlugin()', () => {
  test.each(broken)('finds that a plugin $defect', async ({ plugin, cases, rules }) => {
    const report = await reportOf(plugin, cases)
    expect(new Set(rulesIn(report)), report).toEqual(new Set(rules))
  })

  test('finds nothing in a correct plugin', async () => {
    expect(await reportOf(ticketGrant(), ticketCase())).toBe('')
    const links = {
      grants: { [grantType]: { succeeds: async ({ authorize }: CaseContext) => ({ link: await authorize() }) } },
    }
    expect(await reportOf(linkGrant(), links)).toBe('')
    expect(await reportOf(office(), officeCase())).toBe('')
    expect(await reportOf(correctMethod.plugin, correctMethod.cases)).toBe('')
    expect(await reportOf(correctBinding.plugin, correctBinding.cases)).toBe('')
    expect(
      await reportOf(
        notesWith(({ now }) => ({ now })),
        {},
      ),
    ).toBe('')
    const page = invitations((id, { records, now }) => records.insert(id, true, now() + 600))
    expect(await reportOf(page, invitationCase)).toBe('')
    const refusals = pages(({ code }) => ({ html: `<p>${code}</p>` }))
    expect(await reportOf(refusals, officeCase())).toBe('')
  })

  test.each(guessProof)('finds nothing in a plugin that $what', async ({ plugin, cases }) => {
    expect(await reportOf(plugin, cases)).toBe('')
  })

  test('finds nothing in a method with a long key that it calls unguessable', async () => {
    expect(await reportOf(longPin.plugin, longPin.cases)).toBe('')
  })

  test('says how to limit the guesses of a short code', async () => {
    expect(await reportOf(shortCode.plugin, shortCode.cases)).toBe(
      'The plugin badge breaks these rules:\n- [guesses] grant urn:example:badge: expected that a credential of less ' +
        'than 128 bits cannot be guessed without limit, but after 200 wrong values of badge (19 bits) from one network, the ' +
        'right one was accepted. Check it within kit.limitGuesses(), or issue longer values; if it is neither secret nor ' +
        'personal, list it in `public` of the case',
    )
  })

  test('throws one error with one line for each broken rule', async () => {
    const plugin = ticketGrant({ handle: ({ scopes }) => ({ scopes }) })
    const cases = ticketCase({ refused: [{ with: { ticket: 'EVIL-0001' } }] })
    await expect(testPlugin(plugin, cases)).rejects.toThrow(
      /^The plugin urn:example:ticket breaks these rules:(?:\n- \[[a-z-]+\] grant urn:example:ticket: expected that .+, but .+)+$/u,
    )
  })

  test('says why it could not prepare a request', async () => {
    const failing = (error: Error) =>
      definePlugin('seals', [
        defineTokenBinding({
          member: 'seal',
          prove() {
            throw error
          },
        }),
        defineEndpoint({
          name: 'seals',
          path: '/seals',
          methods: ['GET'],
          caller: 'token',
          scope: 'api1',
          handle: () => ({ json: {} }),
        }),
      ])
    const cases = { endpoints: { seals: { succeeds: {} } } }
    const prefix = 'The kit could not issue tokens for the endpoint seals: '
    expect(await reportOf(failing(new TypeError('no seal')), cases)).toBe(
      `${prefix}{"error":"server_error"} (TypeError: no seal)`,
    )
    const refusal = new OAuthError('invalid_request', 'A seal is required', { reason: 'plugin:seals:missing' })
    expect(await reportOf(failing(refusal), cases)).toBe(
      `${prefix}{"error":"invalid_request","error_description":"A seal is required"} (plugin:seals:missing)`,
    )
  })

  test('says how a request was refused that should have succeeded', async () => {
    const plugin = ticketGrant({
      handle() {
        throw refuse('closed', 'The box office is closed')
      },
    })
    expect(await reportOf(plugin, ticketCase())).toMatch(
      /the response was 400 invalid_grant: The box office is closed \(plugin:ticket:closed\)$/u,
    )
  })

  test('has a broken plugin for each rule that a plugin can break', () => {
    const rules = Object.keys(keptBy).filter((rule) => keptBy[rule as PluginRule] === 'plugin')
    expect(new Set(broken.flatMap(({ rules }) => rules))).toEqual(new Set(rules))
    expect(broken.length).toBeGreaterThanOrEqual(40)
  })
})
