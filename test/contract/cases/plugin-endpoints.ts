import { basic } from '@grantry/testing'
import { web } from '../../support/fixture.ts'
import type { ContractCase } from '../contract-case.ts'
import { cookies, notePath, pagePath } from '../pages.ts'
import { issuer } from '../provider.ts'
import { common, form, get, refused } from './common.ts'

const html = {
  ...common,
  'content-type': 'text/html; charset=utf-8',
  'set-cookie': cookies.join(', '),
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'strict-transport-security': 'max-age=31536000',
}

const json = [
  ['Content-Type', 'application/json'],
  ['Authorization', basic(web)],
] as const

export const pluginEndpointCases: readonly ContractCase[] = [
  {
    name: 'endpoint of a plugin: returns a page with two cookies',
    steps: [
      { send: get(pagePath), expect: { status: 200, headers: html, body: '<p>Zoë</p>' } },
      { send: { ...get(pagePath), method: 'HEAD' }, expect: { status: 200, headers: html, body: '' } },
    ],
  },
  {
    name: 'endpoint of a plugin: redirects with two cookies',
    steps: [
      {
        send: form(pagePath, { choice: 'Zoë & co' }),
        expect: {
          status: 303,
          headers: {
            location: 'https://web.example.com/callback?choice=Zo%C3%AB%20%26%20co',
            'set-cookie': html['set-cookie'],
            'cache-control': 'no-store',
          },
          body: '',
        },
      },
    ],
  },
  {
    name: 'endpoint of a plugin: reads a JSON body of PUT, and the query of DELETE',
    steps: [
      {
        send: { method: 'PUT', target: notePath, headers: json, body: '{"texts":["Zoë","😀"]}' },
        expect: {
          status: 200,
          headers: common,
          json: { client: 'web', method: 'PUT', url: `${issuer}${notePath}`, texts: ['Zoë', '😀'] },
        },
      },
      {
        send: { method: 'DELETE', target: `${notePath}?a=b`, headers: json.slice(1) },
        expect: {
          status: 200,
          headers: common,
          json: { client: 'web', method: 'DELETE', url: `${issuer}${notePath}?a=b`, texts: [] },
        },
      },
    ],
  },
  {
    name: 'endpoint of a plugin: rejects a malformed JSON body, and other media types',
    steps: [
      {
        send: { method: 'PUT', target: notePath, headers: json, body: '{"texts":[' },
        expect: refused(400, 'invalid_request'),
      },
      { send: { ...form(notePath, {}, basic(web)), method: 'PUT' }, expect: refused(415, 'invalid_request') },
    ],
  },
]
