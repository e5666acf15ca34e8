import {
  defineClientAuthentication,
  defineEndpoint,
  defineGrant,
  definePlugin,
  type Grant,
  type GrantKit,
  OAuthError,
  type Plugin,
} from '@grantry/core'
import type { PluginCases } from '@grantry/testing'
import * as v from 'valibot'
import { type Broken, text } from './tickets.ts'

const refuse = (reason: string): OAuthError =>
  new OAuthError('invalid_grant', 'The badge is not valid', { reason: `plugin:badge:${reason}` })

const isBadge = (badge: string, right: string): true | undefined => (badge === right ? true : undefined)

/** How a plugin decides about a badge: `undefined` for a wrong one. */
type Decide = (badge: string, clientAddress: string, kit: GrantKit) => Promise<true | undefined> | true | undefined

const badgeGrant = (decide: Decide): Grant =>
  defineGrant({
    grantType: 'urn:example:badge',
    params: v.object({ badge: text }),
    async handle({ params: { badge }, request: { clientAddress = '' }, scopes }, kit) {
      if (!(await decide(badge, clientAddress, kit))) throw refuse('unknown')
      return { subject: { sub: 'holder', amr: ['badge'] }, scopes }
    },
  }) as Grant

const badgeCase = (badge: string, wrong: string): PluginCases => ({
  grants: { 'urn:example:badge': { succeeds: { badge }, refused: [{ with: { badge: wrong } }] } },
})

const codes = badgeCase('493817', '493818')
const isCode = (badge: string): true | undefined => isBadge(badge, '493817')

/** A grant for a short code, which decides in `decide`. */
const codeGrant = (decide: Decide): Plugin => definePlugin('badge', [badgeGrant(decide)])

const perAddress = { name: 'badges', failures: 10, window: 600 }

/** Counts in records of the plugin. */
const counted = (kit: GrantKit, key: string): Promise<number> => kit.records.increment(key, kit.now() + 600)

/** Correct plugins: the kit finds nothing in them. */
export const guessProof: readonly { readonly what: string; readonly plugin: Plugin; readonly cases: PluginCases }[] = [
  {
    what: 'limits guesses of a short code by the address',
    plugin: codeGrant((badge, clientAddress, kit) =>
      kit.limitGuesses(perAddress, clientAddress, async () => isCode(badge)),
    ),
    cases: codes,
  },
  {
    what: 'limits guesses of a short code of all callers',
    plugin: codeGrant(async (badge, _clientAddress, kit) =>
      (await counted(kit, 'all')) > 50 ? undefined : isCode(badge),
    ),
    cases: codes,
  },
  ...[
    '8f14e45fceea167a5a36dedd4bea2543',
    '6fa459ea-ee8a-4ca4-894e-db77e160355e',
    'q83vEjRWeJCrze8SNFZ4kA',
    '9QK3T7X2M5B8C4D6F0GHJRNPSV',
  ].map((code) => ({
    what: `accepts the code of 128 bits ${code}`,
    plugin: codeGrant((badge) => isBadge(badge, code)),
    cases: badgeCase(code, '0'.repeat(code.length)),
  })),
  {
    what: 'has a parameter that is no secret',
    plugin: definePlugin('door', [
      defineEndpoint({
        name: 'door',
        path: '/door',
        methods: ['POST'],
        caller: 'anyone',
        params: v.object({ door: text }),
        handle({ params: { door } }) {
          if (door === 'west-2') return { json: { open: true } }
          throw new OAuthError('invalid_request', 'The door is not known', { reason: 'plugin:door:unknown' })
        },
      }),
    ]),
    cases: { endpoints: { door: { succeeds: { door: 'west-2' }, public: ['door'] } } },
  },
]

const endpointWith = (error: OAuthError, guessable: boolean): Plugin =>
  definePlugin('badge', [
    defineEndpoint({
      name: 'badge',
      path: '/badge',
      methods: ['POST'],
      caller: 'anyone',
      guessable,
      params: v.object({ badge: text }),
      handle({ params: { badge } }) {
        if (isCode(badge)) return { json: { open: true } }
        throw error
      },
    }),
  ])

const reason = 'plugin:badge:unknown'
const endpointCase: PluginCases = { endpoints: { badge: { succeeds: { badge: '493817' } } } }

/** A method of client authentication with a PIN, which turns off the limit of the core. */
const pinMethod = (pin: string): Pick<Broken, 'plugin' | 'cases'> => ({
  plugin: definePlugin('pins', [
    defineClientAuthentication({
      method: 'x_pin',
      consumes: ['pin'],
      unguessable: true,
      present: ({ client_id: clientId, pin }) =>
        clientId === undefined || pin === undefined ? undefined : { clientId, pin },
      accepts: ({ tokenEndpointAuthMethod }) => tokenEndpointAuthMethod === 'x_pin',
      verify: (presented, _client, kit) => kit.equals(presented.pin, pin) || { reason: 'wrong_pin' },
    }),
  ]),
  cases: {
    methods: {
      x_pin: {
        client: { tokenEndpointAuthMethod: 'x_pin' },
        authenticate: ({ clientId }) => ({ form: { client_id: clientId, pin } }),
      },
    },
  },
})

export const longPin = pinMethod('8f14e45fceea167a5a36dedd4bea2543')

export const shortCode = {
  defect: 'accepts a code of six digits without a limit',
  plugin: codeGrant(isCode),
  cases: codes,
}

export const brokenGuesses: readonly Broken[] = [
  shortCode,
  {
    defect: 'accepts one code of many without a limit',
    plugin: codeGrant((badge) => (/^[0-4]/u.test(badge) ? true : undefined)),
    cases: badgeCase('493817', '593817'),
  },
  {
    defect: 'limits guesses by the exact address, of which a network has many',
    plugin: codeGrant(async (badge, clientAddress, kit) =>
      (await counted(kit, clientAddress)) > 10 ? undefined : isCode(badge),
    ),
    cases: codes,
  },
  {
    defect: 'refuses wrong codes differently after ten, and still accepts the right one',
    plugin: codeGrant(async (badge, clientAddress, kit) => {
      const found = isCode(badge)
      if (found !== undefined) return found
      return kit.limitGuesses(perAddress, clientAddress, async () => undefined)
    }),
    cases: codes,
  },
  {
    defect: 'reads how many guesses there were and then writes it',
    plugin: codeGrant(async (badge, _clientAddress, { records, now }) => {
      const count = (await records.get('count', v.number())) ?? 0
      if (count >= 50) return undefined
      await records.put('count', count + 1, now() + 600)
      return isCode(badge)
    }),
    cases: codes,
  },
  {
    defect: 'has an endpoint for a short code without a limit',
    plugin: endpointWith(new OAuthError('invalid_request', 'The badge is not valid', { reason }), false),
    cases: endpointCase,
  },
  {
    // 600 in a minute, for tokens: 28 hours for all codes.
    defect: 'has an endpoint for a short code with the limit of tokens',
    plugin: endpointWith(new OAuthError('invalid_token', 'The badge is not valid', { reason }), true),
    cases: endpointCase,
  },
  { defect: 'has a method with a PIN that it calls unguessable', ...pinMethod('493817') },
].map((one): Broken => ({ ...one, rules: ['guesses'] }))
