import { expect } from 'vitest'
import type { ContractCase } from '../contract-case.ts'
import { contractProvider, issuer, signingKey } from '../provider.ts'
import { form, get, refused } from './common.ts'

// The response of a provider in this process: every runtime returns the same bytes.
const { metadata } = await contractProvider()

const cacheable = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
  'x-content-type-options': 'nosniff',
  'content-encoding': undefined,
  pragma: undefined,
} as const

const { d: _private, ...published } = signingKey

export const metadataCases: readonly ContractCase[] = [
  ...['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'].map((target) => ({
    name: `GET ${target} returns the configured URLs for any host of the request`,
    steps: [
      {
        send: get(target, ['X-Forwarded-Host', 'evil.example'], ['X-Forwarded-Proto', 'gopher']),
        expect: { status: 200, headers: cacheable, body: JSON.stringify(metadata) },
      },
    ],
  })),
  {
    name: 'GET /.well-known/jwks returns the public part of the key only',
    steps: [
      {
        send: get('/.well-known/jwks'),
        expect: { status: 200, headers: cacheable, json: { keys: [{ ...published, use: 'sig' }] } },
      },
    ],
  },
  {
    name: 'HEAD returns the headers of GET without a body',
    steps: [
      {
        send: { ...get('/.well-known/openid-configuration'), method: 'HEAD' },
        expect: { status: 200, headers: cacheable, body: '' },
      },
      { send: { ...get('/.well-known/jwks'), method: 'HEAD' }, expect: { status: 200, headers: cacheable, body: '' } },
    ],
  },
  {
    name: 'never compresses a response, even if the caller prefers it',
    steps: [
      {
        send: get('/.well-known/openid-configuration', ['Accept-Encoding', 'gzip, br, deflate, zstd']),
        expect: {
          status: 200,
          headers: cacheable,
          check: (body) => expect(JSON.parse(body)).toMatchObject({ issuer }),
        },
      },
    ],
  },
  {
    name: 'rejects POST to a document with 405 and Allow',
    steps: [
      {
        send: form('/.well-known/openid-configuration', {}),
        expect: refused(405, 'invalid_request', { allow: 'GET, HEAD, OPTIONS' }),
      },
      {
        send: form('/.well-known/jwks', {}),
        expect: refused(405, 'invalid_request', { allow: 'GET, HEAD, OPTIONS' }),
      },
    ],
  },
]
