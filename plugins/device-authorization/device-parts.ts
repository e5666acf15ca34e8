import {
  authorizations,
  defineEndpoint,
  defineGrant,
  defineHostFunctions,
  type EndpointKit,
  type PluginPart,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { storeWaiting } from '../shared/known-sites.ts'
import type { Options } from './device-options.ts'
import { pageEndpoint } from './device-page.ts'
import { type DeviceRecord, deviceRecords } from './device-records.ts'
import { groupedUserCode, randomUserCode } from './user-code.ts'
import { createDeviceVerification, deviceVerification } from './verification.ts'

export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'

const refusal = 'The device code is not valid'

/**
 * The number of user codes that are tried if one is in use. With a million pending codes, one code in 25,000 is in use.
 */
const maxTries = 5

/** RFC 8628 section 3.5: each request that comes too early adds five seconds. */
const slowerBy = 5
const maxInterval = 60

/** Stores a request. Returns its user code. */
async function storeUnderFreeCode(kit: EndpointKit, request: DeviceRecord): Promise<string> {
  const records = deviceRecords(kit)
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const userCode = randomUserCode(kit.randomId)
    if (await records.create(userCode, request)) return userCode
  }
  const text = 'Too many codes are in use, try again'
  throw kit.refuse('temporarily_unavailable', text, 'no_user_code', { retryAfter: 1 })
}

/** @see RFC 8628 sections 3.1 and 3.2 */
const endpointOf = ({ verificationUri, page, lifetime, interval }: Options) =>
  defineEndpoint({
    name: 'deviceAuthorization',
    path: '/connect/deviceauthorization',
    metadataName: 'device_authorization_endpoint',
    methods: ['POST'],
    caller: 'client',
    cors: 'clients',
    params: v.object({ scope: v.optional(v.string()) }),
    async handle({ caller, params, request: http }, kit) {
      const [clientEpoch, { scopes }] = await Promise.all([
        kit.epochOfClient(caller.clientId),
        kit.openAuthorization({ kind: 'device', clientId: caller.clientId, scope: params.scope }, caller),
      ])
      const deviceCode = kit.randomId()
      const request: DeviceRecord = {
        clientId: caller.clientId,
        scopes: [...scopes],
        expiresAt: kit.now() + lifetime,
        deviceHash: kit.sha256(deviceCode),
        ...(clientEpoch !== undefined && { clientEpoch }),
      }
      const records = deviceRecords(kit)
      const store = () => storeUnderFreeCode(kit, request)
      const remove = (code: string) => records.remove(code, request)
      const userCode = await (caller.public ? storeWaiting(kit, http, { value: request, store, remove }) : store())
      const shown = groupedUserCode(userCode)
      const uri = verificationUri ?? `${kit.issuer}${page?.path ?? ''}`
      const complete = new URL(uri)
      complete.searchParams.set('user_code', shown)
      return {
        json: {
          device_code: deviceCode,
          user_code: shown,
          verification_uri: uri,
          verification_uri_complete: complete.href,
          expires_in: lifetime,
          interval,
        },
      }
    },
  })

/** @see RFC 8628 sections 3.4 and 3.5 */
const grantOf = ({ interval }: Pick<Options, 'interval'>) =>
  defineGrant({
    grantType: deviceGrantType,
    params: v.object({ device_code: v.pipe(v.string(), v.maxLength(512)) }),
    refusal,
    scope: 'ignored',
    publicClients: true,
    stored: { kind: 'device' },
    async handle({ params: { device_code } }, kit) {
      const records = deviceRecords(kit)
      const hash = kit.sha256(device_code)
      const [request, pace, decision] = await Promise.all([
        records.byDeviceCode(hash),
        records.paceOf(hash),
        records.decisionOf(hash),
      ])
      if (request === undefined) throw kit.refuse('invalid_grant', refusal, 'code_unknown')
      kit.assertClient(request.clientId)
      const needed = pace?.interval ?? interval
      // One second earlier is tolerated, because not every request takes equally long.
      if (!(await records.admit(hash, kit.now() + Math.max(1, needed - 1)))) {
        const slower = interval + slowerBy * (await records.countEarly(hash, request))
        await records.slowDown(hash, Math.min(slower, maxInterval), request)
        throw kit.refuse('slow_down', 'The device polls too fast', 'polled_early')
      }
      const isExpired = request.expiresAt <= kit.now()
      const expired = (reason: string) => kit.refuse('expired_token', 'The device code has expired', reason)
      if (decision === undefined) {
        if (isExpired) throw expired('code_expired')
        throw kit.refuse('authorization_pending', 'The user has not decided yet', 'pending')
      }
      if (decision.sub === undefined) throw kit.refuse('access_denied', 'The user has denied the request', 'denied')
      const stored = await kit.findGrant('device', device_code)
      // A device starts again in both cases, so that only events distinguish them.
      if (stored === undefined) throw expired(isExpired ? 'code_expired' : 'grant_revoked')
      return { redeems: [stored], issue: { identityToken: true } }
    },
  })

/** The parts of the plugin for checked options. */
export const deviceParts = (options: Options): readonly PluginPart[] => [
  authorizations,
  sealing,
  endpointOf(options),
  grantOf(options),
  defineHostFunctions(deviceVerification, (kit) => createDeviceVerification(kit, options.guesses)),
  ...(options.page === undefined ? [] : [pageEndpoint(options.page, options.guesses)]),
]
