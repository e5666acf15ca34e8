import { createHash } from 'node:crypto'
import {
  type Client,
  defineClientAuthentication,
  definePlugin,
  defineResponseFormat,
  type Kit,
  OAuthError,
  type Plugin,
  type ProofMethod,
} from '@grantry/core'
import type { CaseContext, MethodCase, PluginCases } from '@grantry/testing'
import * as v from 'valibot'
import type { Broken } from './tickets.ts'

interface Presented {
  readonly clientId: string
  readonly badge: string
}

const key = 'the key of the badge office'

/** A badge: the id of the client, a number, and a keyed hash of both. */
const badgeOf = (id: string, count: number, sha256: (text: string) => string) =>
  `${id}.${count}.${sha256(JSON.stringify([id, count, key]))}`

/** Returns whether the badge is genuine, as a correct plugin does. */
function isGenuine({ clientId, badge }: Presented, kit: Kit): boolean {
  const [id = '', count = ''] = badge.split('.')
  return kit.equals(badge, badgeOf(id, Number(count), kit.sha256)) && id === clientId
}

const configured = (client: Client): boolean => client.tokenEndpointAuthMethod === 'x_badge'

/** A method with a defect in what differs from a correct one. */
const methodOf = (different: Partial<Omit<ProofMethod<Presented>, 'kind' | 'alternative'>> = {}) =>
  defineClientAuthentication<Presented>({
    method: 'x_badge',
    consumes: ['badge'],
    present: ({ badge }) => (badge === undefined ? undefined : { clientId: badge.split('.')[0] ?? '', badge }),
    accepts: configured,
    async verify(presented, _client, kit) {
      if (!isGenuine(presented, kit)) return { reason: 'forged' }
      return (await kit.records.insert(presented.badge, true, kit.now() + 600)) || { reason: 'used' }
    },
    ...different,
  })

const plugin = (different: Parameters<typeof methodOf>[0] = {}): Plugin => definePlugin('badges', [methodOf(different)])

let badges = 0

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

function authenticate({ clientId }: CaseContext) {
  badges += 1
  return { form: { badge: badgeOf(clientId, badges, sha256) } }
}

const badgeCase = (different: Partial<MethodCase> = {}): PluginCases => ({
  methods: {
    x_badge: { client: { tokenEndpointAuthMethod: 'x_badge' }, authenticate, singleUse: true, ...different },
  },
})

/** A correct plugin. */
export const correctMethod = { plugin: plugin(), cases: badgeCase() }

const reusable = {
  verify: (presented: Presented, _client: unknown, kit: Kit) => isGenuine(presented, kit) || { reason: 'forged' },
}

export const brokenMethods: readonly Broken[] = [
  { defect: 'has a method without a case', plugin: plugin(), cases: {}, rules: ['cases'] },
  {
    defect: 'accepts every badge',
    plugin: plugin({ verify: () => true }),
    cases: badgeCase({ singleUse: false }),
    rules: ['changed-credentials'],
  },
  {
    defect: 'accepts clients that are not configured for it',
    plugin: plugin({ accepts: () => true }),
    cases: badgeCase(),
    rules: ['client-without-method'],
  },
  {
    defect: 'accepts a badge again',
    plugin: plugin(reusable),
    cases: badgeCase(),
    rules: ['concurrent-use', 'replay', 'retry-after-failure'],
  },
  {
    defect: 'reads whether a badge was used and then writes it',
    plugin: plugin({
      async verify(presented, _client, kit) {
        if (!isGenuine(presented, kit)) return { reason: 'forged' }
        if ((await kit.records.get(presented.badge, v.boolean())) === true) return { reason: 'used' }
        await kit.records.put(presented.badge, true, kit.now() + 600)
        return true
      },
    }),
    cases: badgeCase(),
    rules: ['concurrent-use'],
  },
  {
    defect: 'does not list its field',
    plugin: plugin({ consumes: [] }),
    cases: badgeCase(),
    rules: ['undeclared-field'],
  },
  {
    defect: 'fails for a malformed badge',
    plugin: plugin({
      present({ badge }) {
        if (badge === undefined) return undefined
        const [clientId, count] = badge.split('.')
        if (clientId === undefined || count === undefined) throw new TypeError('no badge')
        return { clientId, badge }
      },
    }),
    cases: badgeCase(),
    rules: ['server-error'],
  },
  {
    defect: 'treats a failed storage as a first use',
    plugin: plugin({
      async verify(presented, _client, kit) {
        if (!isGenuine(presented, kit)) return { reason: 'forged' }
        const isFirst = await kit.records.insert(presented.badge, true, kit.now() + 600).catch(() => true)
        return isFirst || { reason: 'used' }
      },
    }),
    cases: badgeCase(),
    rules: ['retry-after-failure'],
  },
  {
    defect: 'writes the badge into a reason',
    plugin: plugin({
      async verify(presented, _client, kit) {
        return isGenuine(presented, kit) || { reason: `forged ${presented.badge}` }
      },
    }),
    cases: badgeCase({ singleUse: false }),
    rules: ['reason'],
  },
  {
    defect: 'writes a header into a reason',
    plugin: plugin({
      consumes: [],
      present(_parameters, request) {
        const badge = request.header('x-badge')
        return badge === null ? undefined : { clientId: badge.split('.')[0] ?? '', badge }
      },
      async verify(presented, _client, kit) {
        return isGenuine(presented, kit) || { reason: `forged ${presented.badge}` }
      },
    }),
    cases: badgeCase({
      singleUse: false,
      authenticate: (context) => ({ headers: { 'x-badge': authenticate(context).form.badge } }),
    }),
    rules: ['reason'],
  },
  {
    defect: 'throws an error with the reason of another plugin',
    plugin: plugin({
      present({ badge }) {
        if (badge === undefined) return undefined
        const [clientId, count] = badge.split('.')
        if (clientId !== undefined && count !== undefined) return { clientId, badge }
        throw new OAuthError('invalid_client', 'Client authentication failed', { reason: 'plugin:passes:malformed' })
      },
    }),
    cases: badgeCase(),
    rules: ['reason'],
  },
  {
    defect: 'cannot encode a response',
    plugin: definePlugin('formats', [
      defineResponseFormat({
        endpoint: 'introspection',
        mediaType: 'application/example+jwt',
        encode: (json) => (json as { missing: { text: string } }).missing.text,
      }),
    ]),
    cases: {},
    rules: ['server-error'],
  },
  {
    defect: 'has a format of an endpoint without a case',
    plugin: definePlugin('formats', [
      defineResponseFormat({ endpoint: 'userinfo', mediaType: 'application/example+jwt', encode: () => 'text' }),
    ]),
    cases: {},
    rules: ['cases'],
  },
]
