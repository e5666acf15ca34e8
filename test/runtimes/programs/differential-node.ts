import { nodeRuntime } from '@grantry/adapters/node'
import { compare } from './differential.ts'

await compare(nodeRuntime)
