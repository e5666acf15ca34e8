/**
 * Attack: bytes that are no proper HTTP, or proper and hostile, on a connection to the real process of every ready server. After each case the server answers a right request, its process lives, nothing of its
 * inside was told, and nothing was issued that was not answered.
 *
 * RFC 9112, RFC 9110 sections 7 to 10; wire contract, section 1.
 */
import { describe, test } from 'vitest'
import { headerCases, strangerCases } from './cases/headers.ts'
import { hostCases } from './cases/hosts.ts'
import { methodCases } from './cases/methods.ts'
import { targetCases } from './cases/targets.ts'
import { expectCase } from './framing-case.ts'
import { describeServers } from './servers.ts'

const groups = {
  hosts: hostCases,
  targets: targetCases,
  headers: headerCases,
  methods: methodCases,
  strangers: strangerCases,
}

describeServers('hostile bytes', (server) => {
  describe.each(Object.entries(groups))('%s', (_, cases) => {
    test.each(cases)('$name', (one) => expectCase(server(), one))
  })
})
