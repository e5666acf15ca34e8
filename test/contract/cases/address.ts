import type { ContractCase, Step } from '../contract-case.ts'
import { addressPath } from '../provider.ts'
import { get } from './common.ts'

const seen = (address: string, ...forwardedFor: readonly string[]): Step => ({
  send: get(addressPath, ...forwardedFor.map((value) => ['X-Forwarded-For', value] as const)),
  expect: { status: 200, json: { address } },
})

/** Which caller the adapter names, behind one trusted proxy; where the runtime knows it. */
export const addressCases: readonly ContractCase[] = [
  { name: "the caller's address is the socket's without a proxy", steps: [seen('127.0.0.1')] },
  {
    name: 'the address of a forwarded request is the last hop, the one that our proxy saw',
    steps: [
      seen('203.0.113.9', '203.0.113.9'),
      seen('203.0.113.9', '6.6.6.6, 203.0.113.9'),
      seen('203.0.113.9', '6.6.6.6', '203.0.113.9'),
      seen('2001:db8::9', '127.0.0.1,6.6.6.6 ,2001:db8::9'),
    ],
  },
  {
    name: 'an IPv4-mapped address is an IPv4 address',
    steps: [seen('203.0.113.9', '6.6.6.6, ::ffff:203.0.113.9'), seen('203.0.113.9', '::FFFF:203.0.113.9')],
  },
  {
    name: 'a hop that is no address is none',
    steps: [seen('127.0.0.1', '6.6.6.6, unknown'), seen('127.0.0.1', ''), seen('127.0.0.1', '203.0.113.9:http')],
  },
  {
    name: 'the port that some proxies add to an address is left out',
    steps: [seen('203.0.113.9', '6.6.6.6, 203.0.113.9:1234'), seen('2001:db8::9', '[2001:db8::9]:1234')],
  },
]
