/** What the FOCUS 1.2 specification says of a column of the dataset Cost and Usage. */
export interface FocusColumn {
  readonly level: 'mandatory' | 'conditional';
  readonly type: 'decimal' | 'text' | 'instant' | 'object';
  readonly isNullable: boolean;
  /** The only values that it can have. */
  readonly allowed?: readonly string[];
  /** Whether it must not be null for a charge of usage that is no correction, though it may be for others. */
  readonly isOfUsage?: boolean;
}

type Facts = [
  level: 'M' | 'C',
  type: FocusColumn['type'],
  nulls: 'null' | 'usage' | 'never',
  ...allowed: string[],
];

/**
 * The mandatory columns, and the conditional ones whose condition holds here: usage is measured, lists of prices per unit are published and
 * negotiated, prices and bills can have different currencies, and charges have tags. From the folder specification/columns of
 * github.com/FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec at v1.2.
 */
const FACTS: Readonly<Record<string, Facts>> = {
  BilledCost: ['M', 'decimal', 'never'],
  BillingAccountId: ['M', 'text', 'never'],
  BillingAccountName: ['M', 'text', 'null'],
  BillingCurrency: ['M', 'text', 'never'],
  BillingPeriodEnd: ['M', 'instant', 'never'],
  BillingPeriodStart: ['M', 'instant', 'never'],
  ChargeCategory: ['M', 'text', 'never', 'Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment'],
  ChargeClass: ['M', 'text', 'null', 'Correction'],
  ChargeDescription: ['M', 'text', 'null'],
  ChargePeriodEnd: ['M', 'instant', 'never'],
  ChargePeriodStart: ['M', 'instant', 'never'],
  ConsumedQuantity: ['C', 'decimal', 'usage'],
  ConsumedUnit: ['C', 'text', 'usage'],
  ContractedCost: ['M', 'decimal', 'never'],
  ContractedUnitPrice: ['C', 'decimal', 'usage'],
  EffectiveCost: ['M', 'decimal', 'never'],
  InvoiceIssuerName: ['M', 'text', 'never'],
  ListCost: ['M', 'decimal', 'never'],
  ListUnitPrice: ['C', 'decimal', 'usage'],
  PricingCurrency: ['C', 'text', 'never'],
  PricingCurrencyContractedUnitPrice: ['C', 'decimal', 'null'],
  PricingCurrencyEffectiveCost: ['C', 'decimal', 'never'],
  PricingCurrencyListUnitPrice: ['C', 'decimal', 'null'],
  PricingQuantity: ['M', 'decimal', 'usage'],
  PricingUnit: ['M', 'text', 'usage'],
  ProviderName: ['M', 'text', 'never'],
  PublisherName: ['M', 'text', 'never'],
  ServiceCategory: [
    ...(['M', 'text', 'never'] as const),
    ...[
      'AI and Machine Learning',
      'Analytics',
      'Business Applications',
      'Compute',
      'Databases',
      'Developer Tools',
    ],
    ...['Multicloud', 'Identity', 'Integration', 'Internet of Things', 'Management and Governance', 'Media'],
    ...['Migration', 'Mobile', 'Networking', 'Security', 'Storage', 'Web', 'Other'],
  ],
  ServiceName: ['M', 'text', 'never'],
  SkuId: ['C', 'text', 'usage'],
  SkuMeter: ['C', 'text', 'null'],
  SkuPriceDetails: ['C', 'object', 'null'],
  SkuPriceId: ['C', 'text', 'usage'],
  Tags: ['C', 'object', 'null'],
};

export const FOCUS_COLUMNS: Readonly<Record<string, FocusColumn>> = Object.fromEntries(
  Object.entries(FACTS).map(([name, [level, type, nulls, ...allowed]]) => [
    name,
    {
      level: level === 'M' ? 'mandatory' : 'conditional',
      type,
      isNullable: nulls !== 'never',
      isOfUsage: nulls === 'usage',
      ...(allowed.length === 0 ? {} : { allowed }),
    },
  ]),
);

/** Units as the attribute Unit Format has them, with a quantity or without one. */
export const FOCUS_UNIT = /^(?:[1-9]\d* )?(?:Tokens|Requests|Unit)$/;
