/**
 * Attack: several tenants are issuers of one process, with one storage. An attacker who owns a tenant, with clients, users and
 * APIs of the same names as those of another one, presents there what the other tenant has issued, or acts on it.
 *
 * RFC 9700 section 4.4 (mix-up); decision 168.
 */
import { credentialAttacks } from '../tenants/credential-attacks.ts'

credentialAttacks('what a tenant has issued', async () => undefined)
