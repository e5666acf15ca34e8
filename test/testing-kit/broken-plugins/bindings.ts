import { createHash } from 'node:crypto'
import {
  defineFields,
  definePlugin,
  defineTokenBinding,
  type Kit,
  OAuthError,
  type Plugin,
  type ProofRequest,
  type TokenBinding,
} from '@grantry/core'
import type { BindingCase, PluginCases, ProvingRequest } from '@grantry/testing'
import * as v from 'valibot'
import type { Broken } from './tickets.ts'

declare module '@grantry/core' {
  interface OAuthErrorCodes {
    invalid_stamp: true
  }
}

const secret = 'the secret of the stamp office'

const refuse = (reason: string): OAuthError =>
  new OAuthError('invalid_stamp', 'The stamp is not valid', { reason: `plugin:stamps:${reason}` })

/** A stamp: a key, a number, and a keyed hash of both and of the request. */
const stampOf = (
  key: string,
  count: string,
  { method, url, accessToken = '' }: { method: string; url: string; accessToken?: string | undefined },
  sha256: (text: string) => string,
) => `${key}.${count}.${sha256(JSON.stringify([key, count, method, url, accessToken, secret]))}`

/** Returns the key of a genuine stamp, as a correct plugin does. */
function keyIn(stamp: string, request: ProofRequest, kit: Kit): string {
  const [key = '', count = ''] = stamp.split('.')
  if (kit.equals(stamp, stampOf(key, count, request, kit.sha256))) return key
  throw refuse('forged')
}

const useOnce = async (stamp: string, kit: Kit): Promise<void> => {
  if (!(await kit.records.insert(stamp, true, kit.now() + 600))) throw refuse('used')
}

/** A binding with a defect in `read`. */
const plugin = (
  read: (stamp: string, request: ProofRequest, kit: Kit) => Promise<string> = async (stamp, request, kit) => {
    const key = keyIn(stamp, request, kit)
    await useOnce(stamp, kit)
    return key
  },
  different: Partial<TokenBinding> = {},
): Plugin =>
  definePlugin('stamps', [
    defineFields({ errors: { invalid_stamp: { client: 400, bearer: 401 } } }),
    defineTokenBinding({
      member: 'stamp',
      scheme: 'Stamp',
      async prove(request, kit) {
        const stamp = request.header('x-stamp')
        return stamp === null ? undefined : { key: await read(stamp, request, kit) }
      },
      ...different,
    }),
  ])

let stamps = 0

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

const prove = (request: ProvingRequest) => {
  stamps += 1
  return { 'x-stamp': stampOf(request.key, String(stamps), request, sha256) }
}

const cases = (different: Partial<BindingCase> = {}): PluginCases => ({ bindings: { stamp: { prove, ...different } } })

/** The same request without what distinguishes it from one to the token endpoint. */
const asTokenRequest = <R extends { readonly url: string }>(request: R) => ({
  ...request,
  method: 'POST',
  url: request.url.replace('userinfo', 'token'),
  accessToken: undefined,
})

/** A correct plugin. */
export const correctBinding = {
  plugin: plugin(),
  cases: cases({ refused: [() => ({ 'x-stamp': 'forged' })] }),
}

export const brokenBindings: readonly Broken[] = [
  { defect: 'has a binding without a case', plugin: plugin(), cases: {}, rules: ['cases'] },
  {
    defect: 'returns the same for every key',
    plugin: plugin(async (stamp, request, kit) => {
      keyIn(stamp, request, kit)
      await useOnce(stamp, kit)
      return 'key'
    }),
    cases: cases(),
    rules: ['bound-token', 'stolen-token'],
  },
  {
    defect: 'ignores a valid proof',
    plugin: plugin(undefined, { prove: () => undefined }),
    cases: cases(),
    rules: ['bound-token'],
  },
  {
    defect: 'binds tokens without a proof',
    plugin: plugin(undefined, {
      async prove(request, kit) {
        const stamp = request.header('x-stamp')
        if (stamp === null) return request.accessToken === undefined ? { key: 'none' } : undefined
        const key = keyIn(stamp, request, kit)
        await useOnce(stamp, kit)
        return { key }
      },
    }),
    cases: cases(),
    rules: ['bound-token'],
  },
  {
    defect: 'accepts a proof of another request',
    plugin: plugin(async (stamp, request, kit) => {
      const key = keyIn(stamp, asTokenRequest(request), kit)
      await useOnce(stamp, kit)
      return key
    }),
    cases: cases({ prove: (request) => prove(asTokenRequest(request)) }),
    rules: ['stolen-token'],
  },
  {
    defect: 'does not verify a proof',
    plugin: plugin(async (stamp, _request, kit) => {
      await useOnce(stamp, kit)
      return kit.sha256(stamp.split('.')[0] ?? '')
    }),
    cases: cases({ refused: [() => ({ 'x-stamp': 'forged' })] }),
    rules: ['stolen-token', 'changed-proof', 'refusal'],
  },
  {
    defect: 'accepts a proof again',
    plugin: plugin(async (stamp, request, kit) => keyIn(stamp, request, kit)),
    cases: cases(),
    rules: ['stolen-token', 'concurrent-use', 'replay', 'retry-after-failure'],
  },
  {
    defect: 'reads whether a proof was used and then writes it',
    plugin: plugin(async (stamp, request, kit) => {
      const key = keyIn(stamp, request, kit)
      if (await kit.records.get(stamp, v.boolean())) throw refuse('used')
      await kit.records.put(stamp, true, kit.now() + 600)
      return key
    }),
    cases: cases(),
    rules: ['concurrent-use'],
  },
  {
    defect: 'fails for a malformed proof',
    plugin: plugin(async (stamp, request, kit) => {
      if (stamp.split('.').length !== 3) throw new TypeError('no stamp')
      const key = keyIn(stamp, request, kit)
      await useOnce(stamp, kit)
      return key
    }),
    cases: cases(),
    rules: ['server-error'],
  },
  {
    defect: 'writes the proof into a reason',
    plugin: plugin(async (stamp, request, kit) => {
      const [key = '', count = ''] = stamp.split('.')
      if (stamp !== stampOf(key, count, request, kit.sha256)) throw refuse(stamp)
      await useOnce(stamp, kit)
      return key
    }),
    cases: cases(),
    rules: ['secret-in-event'],
  },
]
