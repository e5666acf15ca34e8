// A Worker that verifies hashes of other programs.
import { createPasswordCheck } from '@grantry/users/password-hash'
import { verifyForeignHashes } from './verify-foreign-hashes.ts'

// As a host does that creates its users once: a Worker has no random values yet.
createPasswordCheck()

const worker = { fetch: async (): Promise<Response> => Response.json(await verifyForeignHashes()) }

// workerd requires a default export.
export default worker
