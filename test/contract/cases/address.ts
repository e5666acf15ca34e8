import type { ContractCase, Step } from '../contract-case.ts'
import { addressPath } from '../provider.ts'
import { get } from './common.ts'

const seen = (address: string, ...forwardedFor: readonly string[]): Step => ({
  send: get(addressPath, ...forwardedFor.map((value) => ['X-Forwarded-For', value] as const)),
  expect: { status: 200, json: { address } },
})

/** The address of the caller behind one trusted proxy, on runtimes that provide it. */
export const addressCases: readonly ContractCase[] = [
  { name: 'uses the address of the socket without a proxy', steps: [seen('127.0.0.1')] },
  {
    name: 'uses the last hop of a forwarded request, which the trusted proxy added',
    steps: [
      seen('203.0.113.9', '203.0.113.9'),
      seen('203.0.113.9', '6.6.6.6, 203.0.113.9'),
      seen('203.0.113.9', '6.6.6.6', '203.0.113.9'),
      seen('2001:db8::9', '127.0.0.1,6.6.6.6 ,2001:db8::9'),
    ],
  },
  {
    name: 'converts an IPv4-mapped address to IPv4',
    steps: [seen('203.0.113.9', '6.6.6.6, ::ffff:203.0.113.9'), seen('203.0.113.9', '::FFFF:203.0.113.9')],
  },
  {
    name: 'ignores a hop that is not an address',
    steps: [seen('127.0.0.1', '6.6.6.6, unknown'), seen('127.0.0.1', ''), seen('127.0.0.1', '203.0.113.9:http')],
  },
  {
    name: 'removes the port that some proxies append to an address',
    steps: [seen('203.0.113.9', '6.6.6.6, 203.0.113.9:1234'), seen('2001:db8::9', '[2001:db8::9]:1234')],
  },
]
