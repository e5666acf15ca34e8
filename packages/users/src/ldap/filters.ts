import { AndFilter, EqualityFilter, type Filter, FilterParser, NotFilter, OrFilter } from 'ldapts'
import { guidBytes, isGuid } from './entries.ts'
import type { LdapUsersOptions } from './ldap-options.ts'

// Names are values of filters, which are sent as they are: no text is parsed, so no character needs to be escaped.

/** The accounts that are not disabled, by the attribute that disables them. */
const activeFilters = {
  // The flag ACCOUNTDISABLE, by the matching rule for bits.
  userAccountControl: '(!(userAccountControl:1.2.840.113556.1.4.803:=2))',
  nsAccountLock: '(!(nsAccountLock=TRUE))',
  pwdAccountLockedTime: '(!(pwdAccountLockedTime=*))',
} as const

/** Returns the number of open parentheses at the end. Parentheses in values are escaped (RFC 4515 section 3). */
const depthOf = (text: string): number => text.split('(').length - text.split(')').length

function parsed(text: string, member: string): Filter {
  try {
    // The parser ignores parentheses that are missing at the end.
    if (depthOf(text) === 0) return FilterParser.parseString(text)
  } catch {
    // Replaced by the error below, which names the setting.
  }
  throw new TypeError(`${member} is not a valid filter (RFC 4515)`)
}

/** The filters of searches for one user. */
export interface UserFilters {
  /** @param spellings those of one name */
  byName(spellings: readonly string[]): Filter
  /** `undefined` if no entry can have this `sub`. */
  bySub(sub: string): Filter | undefined
}

/** The filters of searches: for active users, and for all. */
export interface Filters extends UserFilters {
  readonly ofAll: UserFilters
  /** All users. */
  readonly users: Filter
  /**
   * The users for whom the server can decide whether they are active: none if it does not know the attribute (RFC 4511
   * section 4.5.1.7).
   */
  readonly decided?: Filter | undefined
}

/** @throws TypeError when a filter of the options is malformed. */
export function filtersOf({ filter, active, attributes }: LdapUsersOptions): Filters {
  const ofActive =
    active === undefined ? undefined : Object.hasOwn(activeFilters, active) ? activeFilters[active as never] : active
  const ofUsers = parsed(filter, 'users.filter')
  const isActive = ofActive === undefined ? undefined : parsed(ofActive, 'users.active')
  const always = [ofUsers, ...(isActive === undefined ? [] : [isActive])]
  const { sub: subAttribute, username } = attributes
  const names = typeof username === 'string' ? [username] : username
  const filtersWith = (required: readonly Filter[]): UserFilters => ({
    byName: (spellings) => {
      const equal = names.flatMap((attribute) => spellings.map((value) => new EqualityFilter({ attribute, value })))
      return new AndFilter({ filters: [...required, new OrFilter({ filters: equal })] })
    },
    bySub: (sub) => {
      const value = isGuid(subAttribute) ? guidBytes(sub) : sub
      if (value === undefined) return undefined
      return new AndFilter({ filters: [...required, new EqualityFilter({ attribute: subAttribute, value })] })
    },
  })
  const decided = isActive && new OrFilter({ filters: [isActive, new NotFilter({ filter: isActive })] })
  return { ...filtersWith(always), ofAll: filtersWith([ofUsers]), users: ofUsers, decided }
}
