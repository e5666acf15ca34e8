// Verifies hashes of other programs, also many at the same time, and prints the names of those that fail.
import { verifyForeignHashes } from './verify-foreign-hashes.ts'

// The process ends by itself, although threads wait for more.
process.stdout.write(JSON.stringify(await verifyForeignHashes()))
