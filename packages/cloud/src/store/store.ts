import type { BuildFailure, BuildStatus, KeyFamily } from '@botcli/protocol/cloud'
import type { BaseImage } from '../builders/builder.ts'
import type { AgentStore } from './agents.ts'
import type { SessionStore } from './sessions.ts'

/** Times are milliseconds since 1970. */
export type Time = number

/** To whom everything belongs. */
export interface Organization {
  readonly id: string
  readonly name: string
  readonly defaultRegion: string
  readonly createdAt: Time
}

/** A key, without the key itself. */
export interface StoredKey {
  readonly id: string
  readonly organizationId: string
  readonly family: KeyFamily
  readonly name: string
  readonly prefix: string
  /** sha256 of the key, in hex. Keys are random and long, so that nothing slower is needed. */
  readonly hash: string
  readonly createdAt: Time
  readonly lastUsedAt: Time | null
  readonly revokedAt: Time | null
}

/** A place for a context that is to be uploaded. */
export interface Upload {
  readonly id: string
  readonly organizationId: string
  readonly region: string
  readonly expiresAt: Time
  /** There once it was received and checked. */
  readonly contextHash: string | null
  readonly contextSizeBytes: number | null
  readonly createdAt: Time
}

/** A build with all that is known of it. */
export interface StoredBuild {
  readonly id: string
  readonly organizationId: string
  readonly status: BuildStatus
  readonly region: string
  readonly uploadId: string
  readonly contextHash: string
  readonly contextSizeBytes: number
  readonly dockerfilePath: string
  readonly noCache: boolean
  readonly imageUri: string | null
  readonly imageSizeBytes: number | null
  readonly errorMessage: string | null
  readonly failure: BuildFailure | null
  /** As it names itself; there once the build is over, if one was found. */
  readonly builder: string | null
  /** What a successful build was made of. */
  readonly bases: readonly BaseImage[]
  /** What it came to, noted before its log is sealed, so that a crash between the two does not lose it. */
  readonly outcome: BuildEnd | null
  /** Whether somebody asked for its end. */
  readonly cancelRequested: boolean
  readonly createdAt: Time
  readonly updatedAt: Time
  readonly startedAt: Time | null
  readonly completedAt: Time | null
}

/** The end of a build. */
export interface BuildEnd {
  readonly status: 'success' | 'failed' | 'timeout'
  readonly imageUri: string | null
  readonly imageSizeBytes: number | null
  readonly errorMessage: string | null
  readonly failure: BuildFailure | null
  readonly builder: string | null
  readonly bases: readonly BaseImage[]
}

/** Which builds are wanted. */
export interface BuildFilter {
  readonly status?: BuildStatus
  readonly region?: string
  readonly contextHash?: string
  readonly dockerfilePath?: string
}

/** A set of secrets, without them. */
export interface StoredSecretSet {
  readonly organizationId: string
  readonly name: string
  readonly type: 'secret' | 'imagePullSecret'
  readonly region: string
  /** The version of the organization's secrets that has changed it last. */
  readonly version: number
  readonly createdAt: Time
  readonly updatedAt: Time
}

/** A set that is to be made or changed; the store counts its versions. */
export type NewSecretSet = Omit<StoredSecretSet, 'version'>

/** A secret of a set. */
export interface StoredSecret {
  readonly key: string
  /** Sealed by the SecretBox; the store never sees a value. */
  readonly sealed: Uint8Array
  readonly updatedAt: Time
}

/** A value of a set that is there, or was while a deployment was made that is still needed. */
export interface KnownSecret extends Pick<StoredSecret, 'key' | 'sealed'> {
  readonly setName: string
  readonly type: StoredSecretSet['type']
}

/** How much may be stored. */
export interface SecretLimits {
  /** Secrets of one set. */
  readonly maxSecrets: number
  /** Secrets of an organization, in bytes as they are sealed. */
  readonly maxBytes: number
  /** The same together with former ones that are still needed. */
  readonly maxKnownBytes: number
}

/**
 * What the control plane remembers. Every method is one transaction. SQLite on one machine, Postgres when one is too small; nothing above
 * knows which.
 */
export interface Store {
  organizations: {
    create(organization: Organization): Promise<void>
    get(id: string): Promise<Organization | undefined>
    first(): Promise<Organization | undefined>
    named(name: string): Promise<Organization | undefined>
    setDefaultRegion(id: string, region: string): Promise<void>
  }
  keys: {
    create(key: StoredKey): Promise<void>
    byHash(hash: string): Promise<StoredKey | undefined>
    list(organizationId: string): Promise<readonly StoredKey[]>
    touch(id: string, at: Time): Promise<void>
    /** It is missing if this organization has no such key, or it was revoked before. The last private key stays. */
    revoke(organizationId: string, id: string, at: Time): Promise<'revoked' | 'missing' | 'last_private'>
  }
  uploads: {
    create(upload: Upload): Promise<void>
    get(organizationId: string, id: string): Promise<Upload | undefined>
    received(id: string, contextHash: string, contextSizeBytes: number): Promise<void>
    /** Uploads whose time is up and that no build needs that is not over. */
    expired(now: Time, limit: number): Promise<readonly Upload[]>
    remove(id: string): Promise<void>
  }
  builds: {
    create(build: StoredBuild): Promise<void>
    get(organizationId: string, id: string): Promise<StoredBuild | undefined>
    list(
      organizationId: string,
      filter: BuildFilter,
      page: {
        readonly limit: number
        readonly offset: number
        readonly before?: { readonly createdAt: Time; readonly id: string }
      },
    ): Promise<{ readonly builds: readonly StoredBuild[]; readonly total: number }>
    /** The newest successful build of the same thing. */
    cached(
      organizationId: string,
      same: {
        readonly contextHash: string
        readonly region: string
        readonly dockerfilePath: string
        readonly builder: string
      },
    ): Promise<StoredBuild | undefined>
    /**
     * Leases a pending build to an owner: the oldest one of the organization that has the fewest running, of those that have room; among
     * equals, of the one that was served the longest ago.
     */
    lease(owner: string, now: Time, until: Time, perOrganization: number): Promise<StoredBuild | undefined>
    /** Nothing if the lease was lost; then the owner must stop. */
    renew(id: string, owner: string, until: Time): Promise<{ readonly cancelRequested: boolean } | undefined>
    /**
     * Leases builds that somebody has begun to build or to cancel, and whose lease is over, to another owner, oldest first. Whoever had
     * them before can write nothing more.
     */
    takeOver(owner: string, before: Time, until: Time): Promise<readonly StoredBuild[]>
    /**
     * Asks for the end of a build; nothing if there is no such build. One that is over is not changed. A pending one is never leased after
     * this: the caller has until `until` to end it.
     */
    requestCancel(organizationId: string, id: string, at: Time, until: Time): Promise<StoredBuild | undefined>
    /** Notes what a build that is not over came to; false if it is over, or its lease is not the owner's, where one is given. */
    noteOutcome(id: string, end: BuildEnd, owner?: string): Promise<boolean>
    /** Ends a build once; false if it was over before, or its lease is not the owner's, where one is given. */
    finish(id: string, end: BuildEnd, at: Time, owner?: string): Promise<boolean>
    /** False if there is no such build, or it is not over. */
    remove(organizationId: string, id: string): Promise<boolean>
  }
  secrets: {
    /** Merges secrets into a set, all or none of them, as a new version. A set keeps its type and its region. */
    put(
      set: NewSecretSet,
      secrets: readonly StoredSecret[],
      limits: SecretLimits,
    ): Promise<'stored' | 'other_type' | 'other_region' | 'too_many' | 'too_large' | 'too_many_former'>
    sets(organizationId: string): Promise<readonly StoredSecretSet[]>
    set(organizationId: string, name: string): Promise<StoredSecretSet | undefined>
    /** Those of a set, now or in the version of a deployment that is still needed. */
    secrets(organizationId: string, name: string, version?: number): Promise<readonly StoredSecret[]>
    /** Removes a set, unless agents need it. */
    removeSet(
      organizationId: string,
      name: string,
    ): Promise<{ readonly isRemoved: boolean; readonly users: readonly string[] }>
    removeSecret(organizationId: string, name: string, key: string, at: Time): Promise<boolean>
    /** All that are there, and former ones that a deployment needs: one that may start instances, or has some left. */
    known(organizationId: string): Promise<readonly KnownSecret[]>
    /** Another number whenever others are known. */
    version(organizationId: string): Promise<number>
    /** Forgets former ones that no deployment needs any more. */
    pruneFormer(): Promise<void>
  }
  agents: AgentStore
  sessions: SessionStore
  close(): Promise<void>
}
