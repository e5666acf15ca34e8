import { createHash } from 'node:crypto'
import { defineClientAuthentication, defineEndpoint, defineGrant, definePlugin, OAuthError } from '@grantry/core'
import { testPlugin } from '@grantry/testing'
import * as v from 'valibot'
import { describe, test } from 'vitest'
import * as z from 'zod'

// Correct plugins with unusual parts: the kit finds nothing in them.

const refuse = (plugin: string, text: string): OAuthError =>
  new OAuthError('invalid_grant', text, { reason: `plugin:${plugin}:unknown` })

let receipts = 0

const text = v.pipe(v.string(), v.maxLength(100))

describe.concurrent('testPlugin() finds nothing in', () => {
  test('an endpoint that requires a scope of its own', () =>
    testPlugin(
      definePlugin('agenda', [
        defineEndpoint({
          name: 'agenda',
          path: '/agenda',
          methods: ['GET'],
          caller: 'token',
          scope: 'agenda',
          handle: ({ caller }) => ({ json: { owner: caller.sub ?? null } }),
        }),
      ]),
      { endpoints: { agenda: { succeeds: {} } } },
    ))

  test('an endpoint that requires the scope email', () =>
    testPlugin(
      definePlugin('newsletter', [
        defineEndpoint({
          name: 'newsletter',
          path: '/newsletter',
          methods: ['POST'],
          caller: 'token',
          scope: 'email',
          handle: () => ({ status: 204 }),
        }),
      ]),
      { endpoints: { newsletter: { succeeds: {} } } },
    ))

  test.each(['00000000', '180000', '1800000', 'abcabc'])('a grant whose credential is %s', (pin) =>
    testPlugin(
      defineGrant({
        grantType: 'urn:example:pin',
        params: v.object({ pin: text }),
        async handle({ params, scopes, request: { clientAddress = '' } }, kit) {
          const limit = { name: 'pins', failures: 5, window: 600 }
          const isRight = await kit.limitGuesses(limit, clientAddress, async () => params.pin === pin || undefined)
          if (!isRight) throw refuse('urn:example:pin', 'The PIN is not valid')
          return { subject: { sub: 'holder', amr: ['pin'] }, scopes }
        },
      }),
      { grants: { 'urn:example:pin': { succeeds: { pin }, refused: [{ with: { pin: 'wrong' } }] } } },
    ),
  )

  test('a grant with the parameters of zod', () =>
    testPlugin(
      defineGrant({
        grantType: 'urn:example:receipt',
        params: z.object({
          receipt: z.string().regex(/^R-\d{39}$/u),
          amount: z.coerce.number().int().positive().max(1000),
          currency: z.enum(['EUR', 'USD']).default('EUR'),
          paid: z.stringbool().optional(),
        }),
        scope: 'optional',
        defaultScopes: () => ['api1'],
        handle({ params, scopes }, kit) {
          if (params.amount > 100) throw refuse('urn:example:receipt', 'The receipt is not valid')
          return { scopes, redeems: [kit.redemption(params.receipt, kit.now() + 600)] }
        },
      }),
      {
        grants: {
          'urn:example:receipt': {
            succeeds: () => ({
              receipt: `R-${String(++receipts).padStart(39, '2')}`,
              amount: 12,
              currency: 'USD',
              paid: 'true',
            }),
            refused: [{ with: { amount: 101 } }, { with: { amount: 'many' }, error: 'invalid_request' }],
          },
        },
      },
    ))

  test('an endpoint for any caller with JSON', () =>
    testPlugin(
      definePlugin('survey', [
        defineEndpoint({
          name: 'survey',
          path: '/survey',
          metadataName: 'survey_endpoint',
          methods: ['POST', 'PUT'],
          body: 'json',
          caller: 'anyone',
          guessable: true,
          params: v.object({
            invitation: text,
            rating: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
            answers: v.pipe(v.array(v.object({ question: text, yes: v.boolean() })), v.maxLength(5)),
            note: v.optional(v.nullable(text)),
          }),
          handle({ params: { invitation, rating } }) {
            if (invitation !== 'invitation-0001-of-the-survey') {
              throw new OAuthError('invalid_token', 'The invitation is not valid', { reason: 'plugin:survey:unknown' })
            }
            return { status: 202, json: { rating } }
          },
        }),
      ]),
      {
        endpoints: {
          survey: {
            succeeds: {
              invitation: 'invitation-0001-of-the-survey',
              rating: 4,
              answers: [{ question: 'Was it easy?', yes: true }],
              note: null,
            },
            refused: [
              { with: { invitation: 'invitation-0002-of-the-survey' }, error: 'invalid_token' },
              { with: { rating: 6 } },
              { with: { answers: 'none' } },
            ],
          },
        },
      },
    ))

  test('an endpoint that limits guesses by the address', () =>
    testPlugin(
      definePlugin('locker', [
        defineEndpoint({
          name: 'locker',
          path: '/locker',
          methods: ['POST'],
          caller: 'anyone',
          params: v.object({ code: text }),
          async handle({ params: { code }, request: { clientAddress = '' } }, kit) {
            const limit = { name: 'codes', failures: 3, window: 600 }
            const isRight = await kit.limitGuesses(limit, clientAddress, async () => code === '123456' || undefined)
            if (isRight) return { json: { open: true } }
            throw new OAuthError('invalid_request', 'The code is not valid', { reason: 'plugin:locker:unknown' })
          },
        }),
      ]),
      { endpoints: { locker: { succeeds: { code: '123456' }, refused: [{ with: { code: '654321' } }] } } },
    ))

  test('an endpoint that refuses with a page', () =>
    testPlugin(
      definePlugin('invoice', [
        defineEndpoint({
          name: 'invoice',
          path: '/invoice',
          methods: ['GET', 'POST'],
          caller: 'anyone',
          params: v.object({ invoice: v.optional(text) }),
          handle({ params: { invoice } }) {
            const error = new OAuthError('invalid_request', 'Unknown', { reason: 'plugin:invoice:unknown' })
            return invoice === '2026-0001'
              ? { html: '<p>Paid</p>', cookies: ['seen=1; SameSite=Lax; Secure; HttpOnly'] }
              : { html: '<p>Unknown</p>', error }
          },
        }),
      ]),
      {
        endpoints: {
          invoice: {
            succeeds: { invoice: '2026-0001' },
            refused: [{ with: { invoice: '2026-0002' } }],
            public: ['invoice'],
          },
        },
      },
    ))

  test('an endpoint that redirects', () =>
    testPlugin(
      definePlugin('logout', [
        defineEndpoint({
          name: 'logout',
          path: '/logout',
          methods: ['GET'],
          caller: 'anyone',
          params: v.object({ state: v.optional(text) }),
          handle({ params: { state } }, kit) {
            const error = new OAuthError('invalid_request', 'Unknown', { reason: 'plugin:logout:unknown' })
            const at = (result: string) => `${kit.issuer}/done?result=${result}`
            return state === '2026-0001' ? { location: at('ok') } : { location: at('failed'), error }
          },
        }),
      ]),
      {
        endpoints: {
          logout: { succeeds: { state: '2026-0001' }, refused: [{ with: { state: '2026-0002' } }], public: ['state'] },
        },
      },
    ))

  test.each([
    ['x-client-proof', undefined],
    ['authorization', true],
  ] as const)('a method of client authentication with the header %s', (header, readsAuthorization) =>
    testPlugin(
      definePlugin('proof', [
        defineClientAuthentication({
          method: 'x_proof',
          consumes: [],
          ...(readsAuthorization && { readsAuthorization }),
          present(_parameters, request) {
            const [, clientId, proof] = /^Proof ([\w-]+)\.([\w-]+)$/u.exec(request.header(header) ?? '') ?? []
            return clientId === undefined || proof === undefined ? undefined : { clientId, proof }
          },
          accepts: ({ tokenEndpointAuthMethod }) => tokenEndpointAuthMethod === 'x_proof',
          verify: ({ clientId, proof }, _client, kit) =>
            kit.equals(proof, kit.sha256(`key of ${clientId}`)) || { reason: 'wrong_proof' },
        }),
      ]),
      {
        methods: {
          x_proof: {
            client: { tokenEndpointAuthMethod: 'x_proof' },
            authenticate: ({ clientId }) => {
              const proof = createHash('sha256').update(`key of ${clientId}`).digest('base64url')
              return { headers: { [header]: `Proof ${clientId}.${proof}` } }
            },
            refused: [() => ({ headers: { [header]: 'Proof method-client.wrong' } })],
          },
        },
      },
    ),
  )
})
