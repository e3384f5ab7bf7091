/** The options that `addCallOptions` adds. */
export interface CallOptions {
  readonly data: string;
  readonly groups?: string;
  readonly series?: string;
  readonly field?: Readonly<Record<string, string>>;
  readonly timeColumn?: string;
  readonly symbolColumn?: string;
  readonly universe?: string;
  readonly paramsByTime?: string;
  readonly dialect?: string;
  readonly select?: string[];
  readonly param?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly to?: string;
  readonly threads?: number;
  readonly memoryLimit?: number;
}
