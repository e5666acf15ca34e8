import {
  defineClientAuthentication,
  defineEndpoint,
  definePlugin,
  type GrantKit,
  OAuthError,
  type Plugin,
} from '@grantry/core'
import type { PluginCases } from '@grantry/testing'
import * as v from 'valibot'
import {
  asUuid,
  badgeCase,
  behindText,
  codeGrant,
  digitsOf,
  isBadge,
  issuing,
  perAddress,
  randomOf,
  summedGrant,
} from './badges.ts'
import { type Broken, text } from './tickets.ts'

const codes = badgeCase('493817', '493818')
const isCode = (badge: string): true | undefined => isBadge(badge, '493817')

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
  { what: 'issues codes of 128 bits', ...issuing(randomOf) },
  { what: 'issues codes of 128 bits behind a constant text', ...issuing((number) => `badge_${randomOf(number)}`) },
  { what: 'issues random UUIDs', ...issuing((number) => asUuid(randomOf(number))) },
  {
    what: 'limits guesses of short codes behind a constant text',
    ...issuing(
      behindText,
      (decide) => async (badge, clientAddress, kit) =>
        kit.limitGuesses(perAddress, clientAddress, async () => decide(badge, clientAddress, kit)),
    ),
  },
  {
    what: 'limits guesses of a short code that is mostly malformed',
    plugin: summedGrant((badge, clientAddress, kit) =>
      kit.limitGuesses({ ...perAddress, failures: 150 }, clientAddress, async () => isBadge(badge, '4938172')),
    ),
    cases: badgeCase('4938172', '4938183'),
  },
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
      const holder = isCode(badge)
      if (holder !== undefined) return holder
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
  { defect: 'issues short codes behind a long constant text, without a limit', ...issuing(behindText) },
  {
    defect: 'issues short codes before a long constant text, without a limit',
    ...issuing((number) => `${digitsOf(number, 6)}@badges.of.the.house.of.example`),
  },
  {
    defect: 'issues short codes in a long constant text, without a limit',
    ...issuing((number) => `badges-of-the-${digitsOf(number, 6)}-house-of-example`),
  },
  {
    defect: 'issues numbers in sequence behind a long text',
    ...issuing((number) => `badge-of-the-house-of-example-${number}`),
  },
  {
    defect: 'accepts a short code that is mostly malformed without a limit',
    plugin: summedGrant((badge) => isBadge(badge, '4938172')),
    cases: badgeCase('4938172', '4938183'),
  },
  {
    defect: 'refuses most short codes with another error, and has no limit',
    plugin: codeGrant((badge) => {
      if (isCode(badge)) return true
      throw new OAuthError('invalid_request', 'The badge is not valid', { reason: 'plugin:badge:unknown' })
    }),
    cases: {
      grants: {
        'urn:example:badge': {
          succeeds: { badge: '493817' },
          refused: [{ with: { badge: '493818' }, error: 'invalid_request' }],
        },
      },
    },
  },
  { defect: 'has a method with a PIN that it calls unguessable', ...pinMethod('493817') },
].map((plugin): Broken => ({ ...plugin, rules: ['guesses'] }))
